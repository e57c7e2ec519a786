"""The site, built once for all tests that look at it."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://github.com/example/gap"


def run_site(*arguments):
    """Run `tools/build_site.py` as a reader would, and return the finished process with all its output in stdout."""
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="session")
def built_site(tmp_path_factory, worker_id):
    """A function from a public address to the folder of the site, built strictly from the committed outputs."""
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
                result = run_site("--out", out, "--url", address)
                log.write_text(f"{result.returncode}\n{result.stdout}")
        status, messages = log.read_text().split("\n", 1)
        assert status == "0", messages
        return out / "_build" / "html"

    return build


@pytest.fixture(scope="session")
def site(built_site):
    """The site without a public address, as a fresh clone builds it."""
    return built_site("")
