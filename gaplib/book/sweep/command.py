"""What ``python -m gaplib run`` and ``sweep`` do with the words that `gaplib.__main__` has read."""

import argparse
import contextlib
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tqdm import tqdm

from gaplib._terminal import printable, tell, warn
from gaplib.book.sweep import store
from gaplib.book.sweep.plan import Plan, Run, listed, make_plan

ALL_DONE, SOME_FAILED, UNUSABLE, STOPPED, INTERRUPTED = 0, 1, 2, 3, 130


def run_notebook(options: argparse.Namespace) -> int:
    """Do one run in this process, unless it ended before, and print what it recorded and where its notebook is."""
    return with_plan(options, do_one)


def sweep_notebook(options: argparse.Namespace) -> int:
    """Do all runs of a plan that have not ended, and sum up what there is, however that ends."""
    return with_plan(options, only_show if options.dry_run else do_all)


def with_plan(options: argparse.Namespace, work: Callable[[Plan, Path, argparse.Namespace], int]) -> int:
    """Make the plan, do the work with it and its folder, and return the exit code."""
    try:
        plan = make_plan(options.notebook, options.given, options.grid, options.seeds)
    except (TypeError, ValueError, FileNotFoundError) as error:
        return fail(error, UNUSABLE)
    return work(plan, options.out or Path("results", plan.notebook), options)


def do_one(plan: Plan, folder: Path, options: argparse.Namespace) -> int:
    """Do the only run of a plan, in this process."""
    from gaplib.book.sweep.execution import execute  # here, because papermill takes a second to import

    (run,) = plan.runs

    def work() -> int:
        result = ended(folder, run, options.retry)
        if result is None:
            result, executed = execute(plan.source, plan.folder, plan.versions, run)
            store.keep(folder, run.name, result, executed)
        for name, value in result["recorded"].items():
            tell(printable(f"{name} = {value}"))
        tell(store.notebook_path(folder, run.name))
        return fail(f"{result['status']}: {result['error']}", SOME_FAILED) if result["error"] else ALL_DONE

    return with_folder(folder, work)


def only_show(plan: Plan, folder: Path, options: argparse.Namespace) -> int:
    """Print what a sweep consists of, and run nothing."""
    show_plan(plan, folder, waiting_of(plan, folder, options))
    return ALL_DONE


def do_all(plan: Plan, folder: Path, options: argparse.Namespace) -> int:
    """Do the runs of a plan that have not ended, and sum up all."""

    def work() -> int:
        waiting = waiting_of(plan, folder, options)
        show_plan(plan, folder, waiting)
        code = stopped_by(lambda: do_on_cluster(plan, waiting, folder, options)) if waiting else ALL_DONE
        if code == INTERRUPTED:
            warn("summing up what ended; Ctrl-C again leaves that out")
        return max(sum_up(folder, plan), code)

    return with_folder(folder, work)


def do_on_cluster(plan: Plan, waiting: list[Run], folder: Path, options: argparse.Namespace) -> int:
    """Have a cluster do the runs, and keep each as it ends."""
    warn(f"connecting to {options.scheduler}" if options.scheduler else "starting processes")
    from gaplib.book.sweep.execution import check_workers, execute, lost  # here, because papermill takes a second
    from gaplib.jobs import cluster, work  # here, because Dask takes a second to import

    with cluster.connected(options.scheduler, options.workers) as client:
        check_workers(client, plan)
        number = work.at_once(client)
        warn(f"{number} runs at once" if number else "waiting for a first worker")
        execute_run = partial(execute, plan.source, plan.folder, plan.versions, preload=True)
        with progress(len(plan.runs), len(waiting)) as bar:
            for run, outcome in work.results(client, execute_run, waiting):
                result, executed = lost(outcome.error, plan.versions) if isinstance(outcome, work.Lost) else outcome
                store.keep(folder, run.name, result, executed)
                if result["error"]:
                    bar.write(printable(f"{result['status']}: {run.name}: {result['error']}"), file=sys.stderr)
                bar.update()
    return ALL_DONE


@contextlib.contextmanager
def progress(planned: int, waiting: int) -> Iterator[tqdm]:
    """Show how many runs have ended: a bar whose clock goes on; in a log file a line every half minute."""
    on_terminal = sys.stderr.isatty()
    ended, over = planned - waiting, threading.Event()
    with tqdm(total=planned, initial=ended, unit="run", mininterval=0.1 if on_terminal else 30, smoothing=0.05) as bar:

        def refresh() -> None:
            while not over.wait(1):
                bar.refresh()

        if on_terminal:
            threading.Thread(target=refresh, daemon=True).start()
        try:
            yield bar
        finally:
            over.set()


def with_folder(folder: Path, work: Callable[[], int]) -> int:
    """Do the work with the folder to oneself, and return its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # how a batch system says that time is up
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(store.locked(folder))
        except OSError as error:
            return fail(error, UNUSABLE)
        return stopped_by(work)


def stopped_by(work: Callable[[], int]) -> int:
    """Do the work; what stops it becomes a message and an exit code."""
    try:
        return work()
    except KeyboardInterrupt:
        return fail("interrupted; the same command goes on from here", INTERRUPTED)
    except (OSError, RuntimeError) as error:
        return fail(f"{error}; the same command goes on from here", STOPPED)


def sum_up(folder: Path, plan: Plan) -> int:
    """Write the table and the summary of what ended, and return the exit code that it stands for."""
    from gaplib.book.sweep import summary, table  # here, because pandas and Matplotlib take seconds to import

    runs = table.gather(folder, plan)
    table.write(folder, runs)
    summary.write(folder, plan, runs)
    counts = Counter(runs["run.status"])
    said = ", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "none ended"
    tell(f"{len(plan.runs)} runs: {said}. See {folder / 'summary.html'}")
    return SOME_FAILED if set(counts) - {store.DONE} else ALL_DONE


def ended(folder: Path, run: Run, retry: bool) -> dict | None:
    """Return the result of a run that need not be done, or None.

    It is done, or failed in a cell, as it would again; and its notebook is there.
    """
    result = store.kept(folder, run.name)
    if result is None or not store.has_notebook(folder, run.name, result):
        return None
    return result if result["status"] in ([store.DONE] if retry else [store.DONE, store.FAILED]) else None


def waiting_of(plan: Plan, folder: Path, options: argparse.Namespace) -> list[Run]:
    """Return the runs that have not ended."""
    return [run for run in plan.runs if ended(folder, run, options.retry) is None]


def show_plan(plan: Plan, folder: Path, waiting: list[Run]) -> None:
    """Print what a sweep consists of."""
    tell(f"{plan.notebook}: {len(plan.runs)} runs")
    for name, values in plan.swept.items():
        tell(printable(f"  {name}: {listed(values)}"))
    for name, value in plan.fixed.items():
        tell(printable(f"  {name} = {value}"))
    tell(f"{len(plan.runs) - len(waiting)} ended before in {folder}, {len(waiting)} to do")


def fail(error: object, code: int) -> int:
    """Say what is wrong, and return the exit code."""
    warn(f"error: {printable(str(error))}")
    return code
