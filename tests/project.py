"""The project as its tests see it: where it lies, and how its programs are run."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Chapters for reference: no exercises, no slides, few parameters.
REFERENCE = {"14_scorecard", "15_errata", "16_rerun", "17_sweeps"}
# Chapters that train: of their outputs only the claims must be the same on another processor.
TRAINED = {
    "10_learning",
    "11_binary_learned",
    "12_gaussian_learned",
    "13_strong_adversaries",
    "16_rerun",
    "20_learned_without_a_family",
}


def run(*command, cwd=ROOT, input=None, **environment):
    """Run a command; return the finished process, with all that it printed in stdout."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | environment,
        input=input,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def python(*arguments, **options):
    """Run the Python of this environment, as `run` does."""
    return run(sys.executable, *arguments, **options)


def tracked(*patterns):
    """The files under version control, as paths from the root."""
    listed = run("git", "ls-files", *patterns)
    assert listed.returncode == 0, listed.stdout
    return listed.stdout.splitlines()
