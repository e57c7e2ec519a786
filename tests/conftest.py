"""The site, built once for all tests that look at it, and the browser that looks."""

import fcntl
import os
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import build_pdf
import hypothesis
import pytest
from browsing import watch
from playwright.sync_api import sync_playwright
from site_builder import BASEURL, ROOT, TYPED, run_site

# Where the chapters lie is told, here as by the tools.
os.environ["GAPLIB_CHAPTERS"] = str(ROOT / "notebooks")

# Before NumPy comes: each core has a worker of its own, and threads that wait for a core busily take it from the other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # a test that asks for other numbers gets them

NAVIGATION_TIMEOUT = 120_000  # milliseconds: on a machine that does other work too, setting a page takes its time

# An example may take as long as the machine is busy: a deadline on the clock tells nothing of the code.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")

# A file is one worker's. Those that take longest come first, so that no worker ends long after the others.
LONGEST_FIRST = (
    "test_papermill",
    "test_assignments",
    "test_browser",
    "test_sweep",
    "test_accessibility",
    "13_strong_adversaries",
    "test_pdf",
    "test_training_alpha",
    "test_site",
    "10_learning",
    "test_training",
    "20_learned_without_a_family",
    "17_sweeps",
    "16_rerun",
    "test_training_lasts",
    "21_your_own_table",
    "test_neural",
    "test_explorer",
    "test_gaussian",
)


def pytest_configure(config):
    """Compile each program of the training once in all processes of this run: they find it in a folder, same bits."""
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist, and all that they start, inherit it
        compiled = tempfile.TemporaryDirectory(prefix="gap-compiled-", ignore_cleanup_errors=True)
        config.add_cleanup(compiled.cleanup)
        flags = f"--tf_xla_persistent_cache_directory={compiled.name} --tf_xla_persistent_cache_device_types=CPU"
        os.environ["TF_XLA_FLAGS"] = f"{os.environ.get('TF_XLA_FLAGS', '')} {flags}"


def pytest_collection_modifyitems(items):
    rank = {name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


@pytest.fixture(scope="session")
def built_site(tmp_path_factory, worker_id):
    """A function from the address of a repository, or none, to the folder of the strictly built site."""
    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":  # the workers of pytest-xdist share the folder above theirs
        folder = folder.parent

    def build(address):
        out = folder / ("site-with-address" if address else "site")
        out.mkdir(exist_ok=True)
        with open(out / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second waits, and finds it built
            log = out / "log"
            if not log.exists():
                result = run_site(
                    "--out", out, "--url", TYPED if address else "", "--baseurl", BASEURL if address else ""
                )
                log.write_text(f"{result.returncode}\n{result.stdout}")
        status, messages = log.read_text().split("\n", 1)
        assert status == "0", messages
        return out / "_build" / "html"

    return build


@pytest.fixture(scope="session")
def site(built_site):
    """The site without a public address, as a fresh clone builds it."""
    return built_site("")


@pytest.fixture(scope="session")
def browser_path():
    """The program of a browser. Where there is none, tests are skipped, but fail in CI."""
    path = build_pdf.find_browser()
    if path is None:
        missing = f"NO BROWSER: what it should show was not tested. Install one of {', '.join(build_pdf.BROWSERS)}."
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="module")
def browser(browser_path):
    with sync_playwright() as playwright:
        browser = build_pdf.launch(playwright, browser_path)
        yield browser
        browser.close()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")  # every page of the site loads the same scripts
        super().end_headers()


@pytest.fixture(scope="module")
def addresses(site):
    """The address of the site, over http and as files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"http": f"http://127.0.0.1:{server.server_port}/", "file": site.as_uri() + "/"}
        server.shutdown()


@pytest.fixture
def open_site(browser, addresses):
    """A function that opens a tab; returns the tab, the site's address, and what goes wrong.

    A request that leads elsewhere is told, and fails, since the browser knows no host but this machine. To block it
    here would stop every request in Playwright and switch the browser's cache off: three quarters more work for a page.
    """
    contexts = []

    def open_tab(way, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        home = addresses[way]
        context.set_default_navigation_timeout(NAVIGATION_TIMEOUT)
        tab = context.new_page()
        problems = watch(tab)
        if way == "file":
            context.set_offline(True)
        own = (home, "data:", "blob:")
        tab.on("request", lambda r: None if r.url.startswith(own) else problems.append(f"asks for {r.url}"))
        tab.on("response", lambda r: problems.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
        return tab, home, problems

    yield open_tab
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def alone(request, tmp_path_factory):
    """The explorer or player that the module tests, as the only thing on a page: its address."""
    path = tmp_path_factory.mktemp("explorer") / "alone.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    path.write_text(f"{head}<body>{request.module.ALONE}", encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def open_alone(browser, alone):
    """A function that opens it alone at a setting; the test fails on an error or a request."""
    contexts, problems = [], []

    def open_tab(setting="", **options):
        contexts.append(browser.new_context(**options))
        tab = contexts[-1].new_page()
        tab.on("console", lambda m: problems.append(f"console: {m.text}"))
        tab.on("pageerror", lambda error: problems.append(f"script error: {error}"))
        tab.on("request", lambda r: problems.append(f"asks for {r.url}") if not r.url.startswith(alone) else None)
        tab.goto(alone + setting)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def foreign():
    """Another server on this machine: the addresses that lead there, and the requests that it gets."""
    asked = []

    class Listening(Silent):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Listening) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield [f"{host}:{server.server_port}" for host in ("127.0.0.1", "localhost")], asked
        server.shutdown()
