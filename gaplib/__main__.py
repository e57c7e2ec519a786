"""The command ``python -m gaplib``: its words, and where what they ask for is done.

What a command computes with is loaded only when it is asked for, so that ``--help`` answers at once.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from gaplib._terminal import warn

INTERRUPTED = 130  # as shells say of a program that Ctrl-C ended

_EXIT = """\
exit code: 0 all runs are done; 1 some failed, and are kept with their traceback; 2 the command cannot be done as it is;
3 stopped before the end by a full disk or a lost scheduler; 130 interrupted. After 3, after 130 and after a kill the
same command goes on where it stopped.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Do what the words ask for, and return the exit code."""
    try:
        options = parser().parse_args(pairs_joined(sys.argv[1:] if words is None else words))
        return options.command(options)
    except KeyboardInterrupt:
        warn("error: interrupted")
        return INTERRUPTED


def pairs_joined(words: Sequence[str]) -> list[str]:
    """Return the words with ``-p NAME VALUE`` as ``-p NAME=VALUE``; argparse would take -1e-3 for an option."""
    joined, waiting = [], list(words)
    while waiting:
        word = waiting.pop(0)
        joined.append(word)
        if word == "-p" and len(waiting) > 1:
            joined.append(f"{waiting.pop(0)}={waiting.pop(0)}")
    return joined


def parser() -> argparse.ArgumentParser:
    """Return what reads the words."""
    top = argparse.ArgumentParser(
        prog="python -m gaplib", description="Run notebooks with other parameters; release and audit tables."
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("notebook", help="path of a notebook, or name of a chapter, such as 03_binary_pdd")
    shared.add_argument(
        "-p",
        action="append",
        default=[],
        type=pair,
        dest="given",
        metavar="NAME VALUE",
        help="set a parameter",
    )
    shared.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where results go (default: results/ and the notebook's name)"
    )
    shared.add_argument("--retry", action="store_true", help="run again what failed before")
    layout = argparse.RawDescriptionHelpFormatter  # keeps the lines of the epilog
    command = partial(commands.add_parser, parents=[shared], epilog=_EXIT, formatter_class=layout)
    run = command("run", help="one run")
    run.set_defaults(command=run_notebook, grid=[], seeds=None)
    sweep = command("sweep", help="every combination of many values")
    sweep.set_defaults(command=sweep_notebook)
    sweep.add_argument(
        "--grid",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values of a parameter: D=1:9, D=0:1:0.25 (both ends included), prior=.5,.75",
    )
    sweep.add_argument("--seeds", type=int, metavar="N", help="N runs with seeds of their own for each combination")
    sweep.add_argument("--workers", type=positive, metavar="N", help="processes on this machine (default: its cores)")
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="use the running Dask cluster at ADDRESS instead")
    sweep.add_argument("--dry-run", action="store_true", help="print the plan and its size, and run nothing")
    add_tables(commands)
    return top


def add_tables(commands: Any) -> None:
    """Add the commands on a data holder's table."""
    release = commands.add_parser(
        "release", help="release a table without its private column, and hide it in the others"
    )
    release.set_defaults(command=release_table)
    release.add_argument("table", help="the table, .csv or .parquet")
    release.add_argument("--private", metavar="COLUMN", help="the column to hide; it is never released")
    release.add_argument(
        "--public", metavar="COLUMNS", help='the columns to release, a,"b, c" for example (default: all others)'
    )
    release.add_argument("--budget", type=float, metavar="D", help="largest mean change, in units of variances")
    release.add_argument("--out", required=True, metavar="FILE", help="the release, .csv or .parquet")
    release.add_argument("--report", metavar="FILE", help="an audit as an HTML page")
    release.add_argument("--save", metavar="FILE", help="keep the mechanism, .npz; it says how secret it is")
    release.add_argument("--mechanism", metavar="FILE", help="use a mechanism that was kept, on new records")
    release.add_argument("--kind", choices=("pdd", "pdi"), help="may it use the private column? pdi: no (default: pdd)")
    methods = ("transport", "neural", "affine", "gaussian", "laplace")
    release.add_argument("--method", choices=methods, help="neural needs TensorFlow (default: transport)")
    release.add_argument(
        "--scale", choices=("std", "none"), help="none: squares in the columns' own units (default: std)"
    )
    release.add_argument("--scheduler", metavar="ADDRESS", help="have a running Dask cluster release the parts")
    audit = commands.add_parser("audit", help="attack a release: how often is the private column guessed?")
    audit.set_defaults(command=audit_table)
    audit.add_argument("table", help="the original")
    audit.add_argument("released", help="its release, the same records in the same order")
    audit.add_argument("--private", required=True, metavar="COLUMN", help="the column that was hidden")
    audit.add_argument("--report", metavar="FILE", help="the audit as an HTML page")
    for command in (release, audit):
        command.add_argument(
            "--seed", type=int, metavar="N", help="makes the same again; keep it secret (default: random)"
        )
        command.add_argument("--force", action="store_true", help="replace files that exist")


def pair(text: str) -> tuple[str, str]:
    """Return the name and the value of a parameter."""
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError("expected two words, NAME VALUE")
    return name, value


def positive(text: str) -> int:
    """Return a number of workers."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be an integer >= 1, got {text}")
    return number


def run_notebook(options: argparse.Namespace) -> int:
    """Do one run."""
    return _loaded("gaplib.book.sweep.command", "book").run_notebook(options)


def sweep_notebook(options: argparse.Namespace) -> int:
    """Do many runs."""
    return _loaded("gaplib.book.sweep.command", "book").sweep_notebook(options)


def release_table(options: argparse.Namespace) -> int:
    """Release a table."""
    return _loaded("gaplib.tabular.command", "tabular").release(options)


def audit_table(options: argparse.Namespace) -> int:
    """Audit a release."""
    return _loaded("gaplib.tabular.command", "tabular").attack(options)


def _loaded(module: str, extra: str) -> ModuleType:
    """Import what does the work, only now: scikit-learn and papermill take a second."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        warn(f"error: {error}; the extra {extra} of gaplib brings it")  # which is on no index, so no command
        raise SystemExit(2) from None


if __name__ == "__main__":
    sys.exit(main())
