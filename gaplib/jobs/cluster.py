"""Many runs at once: Dask hands them to workers, here or on other machines."""

import contextlib
import itertools
import logging
import traceback
from collections.abc import Iterator

import dask
from dask.system import CPU_COUNT
from distributed import Client, Future, LocalCluster, as_completed

from gaplib.sweep.plan import Plan, Run
from gaplib.sweep.versions import versions
from gaplib.sweep.worker import LOST, different, execute, last_line

# Dask's own settings that matter here. A run that takes three workers with it is given up.
SETTINGS = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.scheduler.http.routes": [],  # no page that others on the machine could read
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
}


# A terminal sends Ctrl-C to all its processes. A worker that heeded it would be replaced while the command ends.
_LEAVE_CTRL_C = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


class SchedulerLostError(ConnectionError):
    """The scheduler is gone: nothing that ended is lost, and the same command goes on."""


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """Connect to a running Dask cluster, or make one here that ends with the command.

    Parameters
    ----------
    scheduler : str or None
        The address of a running scheduler, such as ``"tcp://10.0.0.1:8786"``; None makes a cluster of this machine.
    workers : int or None
        Number of its processes; None takes one for each core that this process may use.

    Raises
    ------
    ConnectionError
        If no scheduler answers.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost scheduler is said in our words
        if scheduler is None:
            scheduler = stack.enter_context(local_cluster(workers or CPU_COUNT))
        try:
            client = Client(scheduler)
        except (OSError, ValueError, TypeError, ImportError) as error:  # the last two: a protocol it cannot speak
            raise ConnectionError(f"no Dask scheduler answers at {scheduler}: {error}") from error
        yield stack.enter_context(client)


def local_cluster(workers: int) -> LocalCluster:
    """Return a cluster of this machine: processes of one thread, reached by nobody else.

    The keys keep others who are logged in here from sending work to it. A worker only waits for the kernel of its
    run, so its memory says nothing, and is not watched.
    """
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        security=True,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        preload=[_LEAVE_CTRL_C],
    )


def check_workers(client: Client) -> int:
    """Return the number of runs that go on at once, after a look at what the workers would compute with.

    Raises
    ------
    RuntimeError
        If a worker lacks gaplib, or has other versions than this process.
    """
    here = versions()
    try:
        there = client.run(versions)
    except Exception as error:
        raise RuntimeError(f"a worker cannot do runs of gaplib: {last_line(error)}") from error
    for address, found in there.items():
        if found != here:
            raise RuntimeError(f"the worker at {address} has {different(found, here)}: install the same lock on all")
    return sum(client.nthreads().values())


def results(client: Client, plan: Plan, runs: list[Run]) -> Iterator[tuple[Run, dict, str | None]]:
    """Yield each run as it ends, with its result and notebook (None if the run took its worker with it).

    Dask is given one run for each thread that its workers have, and another when one ends: runs begin in the order of
    the plan, ten thousand need no more memory than ten, and workers that join later get theirs.

    Raises
    ------
    SchedulerLostError
        If the scheduler is gone.
    """
    waiting = iter(runs)
    given: dict[Future, Run] = {}
    ends = as_completed(raise_errors=False)

    def give() -> None:
        for run in itertools.islice(waiting, max(1, sum(client.nthreads().values())) - len(given)):
            future = client.submit(execute, plan.source, run.parameters, plan.versions, key=f"gap-run-{run.name}")
            given[future] = run
            ends.add(future)

    give()
    for future in ends:
        run = given.pop(future)
        if future.status == "cancelled" or client.status != "running":
            raise SchedulerLostError("the Dask scheduler is gone")
        if future.status == "error":
            yield run, lost(future.exception(), plan), None
        else:
            yield run, *future.result()
        future.release()
        give()


def lost(error: Exception, plan: Plan) -> dict:
    """Return the result of a run that did not come back: its worker was killed, or was the wrong one."""
    return {
        "status": LOST,
        "recorded": {},
        "error": last_line(error),
        "traceback": "".join(traceback.format_exception(error)),
        "seconds": None,
        "started": None,
        "host": None,
        "processor": None,
        "versions": plan.versions,
    }
