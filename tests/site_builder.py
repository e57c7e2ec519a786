"""The tool that builds the site, run as a reader would, and addresses to build it with."""

from project import ROOT, python

ADDRESS = "https://github.com/example/gap"
TYPED = "git@GitHub.com:example/gap.git"  # the same, as one may copy it
BASEURL = "https://example.org/gap"  # where the site would stand


def run_site(*arguments):
    """Run `tools/build_site.py`; return the finished process with all its output in stdout."""
    return python(ROOT / "tools" / "build_site.py", *arguments)
