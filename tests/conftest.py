"""The site, built once for all tests that look at it, and the browser that looks."""

import fcntl
import os
import shutil

import pytest
from playwright.sync_api import sync_playwright
from site_builder import BASEURL, ROOT, run_site

# Where the chapters lie is told, here as by the tools.
os.environ["GAPLIB_CHAPTERS"] = str(ROOT / "notebooks")


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
                result = run_site("--out", out, "--url", address, "--baseurl", BASEURL if address else "")
                log.write_text(f"{result.returncode}\n{result.stdout}")
        status, messages = log.read_text().split("\n", 1)
        assert status == "0", messages
        return out / "_build" / "html"

    return build


@pytest.fixture(scope="session")
def site(built_site):
    """The site without a public address, as a fresh clone builds it."""
    return built_site("")


@pytest.fixture(scope="module")
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        missing = f"NO BROWSER: what it should show was not looked at. Install one of {', '.join(names)}."
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        # No sandbox: it needs rights that a container lacks, and only our own pages are opened.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
