"""The command line: ``python -m gaplib run`` for one run, ``python -m gaplib sweep`` for many."""

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gaplib.book.sweep import store
from gaplib.book.sweep.plan import Plan, Run, listed, make_plan

# Exit codes. 2 is what argparse uses for a command that cannot be carried out as it is typed.
ALL_DONE, SOME_FAILED, UNUSABLE, STOPPED, INTERRUPTED = 0, 1, 2, 3, 130

_EXIT = """\
exit code: 0 all runs are done; 1 some failed, and are kept with their traceback; 2 the command cannot be carried out;
3 stopped before the end by a full disk or a lost scheduler; 130 interrupted. After 3, after 130 and after a kill the
same command goes on where it stopped.
"""


def main(arguments: list[str] | None = None) -> int:
    """Carry out the command, and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        return carry_out(options)
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)


def carry_out(options: argparse.Namespace) -> int:
    """Make the plan, and carry out what was asked for."""
    try:
        plan = make_plan(options.notebook, options.parameter, options.grid, options.seeds)
    except (TypeError, ValueError, FileNotFoundError) as error:
        return complain(error, UNUSABLE)
    options.out = options.out or Path("results", plan.notebook)
    return options.carry_out(plan, options)


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    top = argparse.ArgumentParser(prog="python -m gaplib", description="Run notebooks with other parameters.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("notebook", help="path of a notebook, or name of one of the book, such as 03_binary_pdd")
    shared.add_argument(
        "-p", nargs=2, action="append", default=[], dest="parameter", metavar=("NAME", "VALUE"), help="set a parameter"
    )
    shared.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where results go (default: results/ and the notebook's name)"
    )
    shared.add_argument("--retry", action="store_true", help="run again what failed before")
    layout = argparse.RawDescriptionHelpFormatter  # keeps the lines of the epilog
    command = partial(commands.add_parser, parents=[shared], epilog=_EXIT, formatter_class=layout)
    run = command("run", help="one run")
    run.set_defaults(carry_out=run_one, grid=[], seeds=None)
    sweep = command("sweep", help="every combination of many values")
    sweep.set_defaults(carry_out=sweep_all)
    sweep.add_argument(
        "--grid",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values of a parameter: D=1:9, D=0:1:0.25 (ends included), prior=.5,.75",
    )
    sweep.add_argument("--seeds", type=int, metavar="N", help="N runs with seeds of their own for each combination")
    sweep.add_argument("--workers", type=positive, metavar="N", help="processes on this machine (default: its cores)")
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="use the running Dask cluster at ADDRESS instead")
    sweep.add_argument("--dry-run", action="store_true", help="print the plan and its size, and run nothing")
    return top


def positive(text: str) -> int:
    """Return a number of workers."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be an integer >= 1, got {text}")
    return number


def run_one(plan: Plan, options: argparse.Namespace) -> int:
    """Do one run in this process, unless it ended before, and print what it recorded and where its notebook is."""
    from gaplib.book.sweep.worker import execute  # here and below: what only computing needs is slow to load

    (run,), folder = plan.runs, options.out

    def work() -> int:
        if not ended(folder, run, options.retry):
            store.keep(folder, run.name, *execute(plan.source, run.parameters, plan.versions))
        result = store.result(folder, run.name)
        for name, value in result["recorded"].items():
            print(f"{name} = {value}")
        print(store.notebook_path(folder, run.name))
        return complain(f"{result['status']}: {result['error']}", SOME_FAILED) if result["error"] else ALL_DONE

    return alone_in(folder, work)


def sweep_all(plan: Plan, options: argparse.Namespace) -> int:
    """Do all runs of a plan that have not ended, and put together what there is, however that ends."""
    folder = options.out
    if options.dry_run:
        print_plan(plan, folder, waiting_of(plan, options))
        return ALL_DONE

    def work() -> int:
        waiting = waiting_of(plan, options)
        print_plan(plan, folder, waiting)
        code = stopped_by(lambda: farm_out(plan, waiting, options)) if waiting else ALL_DONE
        return max(put_together(folder, plan), code)

    return alone_in(folder, work)


def waiting_of(plan: Plan, options: argparse.Namespace) -> list[Run]:
    """Return the runs that have not ended."""
    return [run for run in plan.runs if not ended(options.out, run, options.retry)]


def farm_out(plan: Plan, waiting: list[Run], options: argparse.Namespace) -> None:
    """Have Dask do the runs, and keep each as it ends."""
    from tqdm import tqdm

    from gaplib.book.sweep import farm

    with farm.connected(options.scheduler, options.workers) as client:
        at_once = farm.check_workers(client)
        say(f"{at_once} runs at once" if at_once else "waiting for a first worker")
        # A terminal gets a bar, a log file a line every half minute.
        every = 0.1 if sys.stderr.isatty() else 30
        before = len(plan.runs) - len(waiting)
        with tqdm(total=len(plan.runs), initial=before, unit="run", mininterval=every, smoothing=0.05) as bar:
            for run, result, executed in farm.results(client, plan, waiting):
                store.keep(options.out, run.name, result, executed)
                if result["error"]:
                    bar.write(f"{result['status']}: {run.name}: {result['error']}", file=sys.stderr)
                bar.update()


def alone_in(folder: Path, work: Callable[[], int]) -> int:
    """Do the work with the folder to oneself, and return its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # how a batch system says that time is up

    def locked() -> int:
        with store.opened(folder):
            return work()

    return stopped_by(locked)


def stopped_by(work: Callable[[], int | None]) -> int:
    """Do the work; what stops it becomes a message and an exit code."""
    try:
        return work() or ALL_DONE
    except (BlockingIOError, FileExistsError, NotADirectoryError, PermissionError) as error:
        return complain(error, UNUSABLE)
    except KeyboardInterrupt:
        return complain("interrupted; the same command goes on from here", INTERRUPTED)
    except (OSError, RuntimeError) as error:
        return complain(f"{error}; the same command goes on from here", STOPPED)


def put_together(folder: Path, plan: Plan) -> int:
    """Write the table and the summary of what ended, and return the exit code that it stands for."""
    from gaplib.book.sweep import summary, table

    runs = table.gather(folder, plan)
    table.write(folder, runs)
    summary.write(folder, plan, runs)
    counts = Counter(runs["run.status"])
    said = ", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "none ended"
    print(f"{len(plan.runs)} runs: {said}. See {folder / 'summary.html'}")
    return SOME_FAILED if set(counts) - {"done"} else ALL_DONE


def ended(folder: Path, run: Run, retry: bool) -> bool:
    """Whether a run need not be done: it is done, or failed in a cell, as it would again; and its notebook is there."""
    result = store.kept(folder, run.name)
    if result is None or not store.notebook_path(folder, run.name).exists():
        return False
    return result["status"] in (["done"] if retry else ["done", "failed"])


def print_plan(plan: Plan, folder: Path, waiting: list[Run]) -> None:
    """Print what a sweep consists of."""
    print(f"{plan.notebook}: {len(plan.runs)} runs")
    for name, values in plan.swept.items():
        print(f"  {name}: {listed(values)}")
    for name, value in plan.fixed.items():
        print(f"  {name} = {value}")
    print(f"{len(plan.runs) - len(waiting)} ended before in {folder}, {len(waiting)} to do")


def say(message: object) -> None:
    """Print to where messages go."""
    print(message, file=sys.stderr)


def complain(error: object, code: int) -> int:
    """Say what is wrong, and return the exit code."""
    say(f"error: {error}")
    return code
