"""What computes: a Dask cluster that runs already, or processes of this machine that end with the command."""

import asyncio
import contextlib
import logging
import signal
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster
from distributed.comm.core import connect
from distributed.security import Security

# Dask's own settings that matter here. A piece of work that takes three workers with it is given up.
SETTINGS = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.scheduler.http.routes": [],  # no page that others on the machine could read
    "distributed.worker.http.routes": [],
    "distributed.nanny.http.routes": [],
    # Nobody looks at what these would measure, and each second of a sweep they would take a tenth of a core.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "60s",
}
# How long a worker may take to end by itself, in seconds. It has nothing to save.
_GRACE = 0.5
# What a terminal or a batch system sends to end a command.
_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def connected(scheduler: str | None = None, workers: int | None = None) -> Iterator[Client]:
    """Connect to a running Dask cluster, or make one here that ends with the block.

    Parameters
    ----------
    scheduler : str or None
        The address of a running scheduler, such as ``"tls://10.0.0.1:8786"``; None makes a cluster of this machine.
        Certificates are those of Dask's configuration.
    workers : int or None
        Number of processes on this machine; None takes one for each core that this process may use.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ConnectionError
        If no scheduler answers there within Dask's time for a connection, 30 s.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        stack.enter_context(_silence("distributed", "distributed.client"))  # what matters is said by errors
        if scheduler is None:
            cluster = stack.enter_context(_local_cluster(workers or CPU_COUNT))
            yield stack.enter_context(Client(cluster))
        else:
            check_scheduler(scheduler)
            yield stack.enter_context(Client(scheduler))


@contextlib.contextmanager
def _local_cluster(workers: int) -> Iterator[LocalCluster]:
    """Make a cluster of processes with one thread each, reached by nobody else, with a folder that nobody else enters.

    The keys keep others who are logged in here from sending work to it. A worker may wait for processes of its own, so
    its memory says little, and is not watched.
    """
    with contextlib.ExitStack() as stack:
        with _ctrl_c_waits():
            folder = tempfile.TemporaryDirectory(prefix="gaplib-", ignore_cleanup_errors=True)  # of mode 0700
            stack.enter_context(folder)
            stack.enter_context(dask.config.set({"temporary-directory": folder.name}))
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                security=True,
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                preload=["gaplib.jobs.preload"],
                env={"TMPDIR": folder.name},  # what a worker leaves when it is killed goes with the folder
            )
            stack.enter_context(cluster)
            stack.callback(cluster.sync, _end_workers, cluster)
        try:
            yield cluster
        finally:
            with _ctrl_c_waits():
                stack.close()


async def _end_workers(cluster: LocalCluster) -> None:
    """End the workers, whatever they do: the cluster itself would wait for their work."""
    ending = (nanny.close(timeout=_GRACE) for nanny in cluster.workers.values())
    await asyncio.gather(*ending, return_exceptions=True)  # on a busy machine a killed process is not gone at once


@contextlib.contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM wait for the end of the block, and keep them from the processes that it starts.

    A cluster that is interrupted while it starts cannot be closed, and its workers would all complain.
    """
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return
    arrived: list[signal.Signals] = []
    resource_tracker.ensure_running()  # otherwise started by the first worker, and it would unblock the signals
    handlers = {
        number: signal.signal(number, lambda number, _: arrived.append(signal.Signals(number))) for number in _ENDING
    }
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # inherited by threads and processes
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for ending, handler in handlers.items():
            signal.signal(ending, handler)
    if arrived:
        signal.raise_signal(arrived[0])


@contextlib.contextmanager
def _silence(*names: str) -> Iterator[None]:
    """Have Dask's loggers say nothing."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def check_scheduler(address: str) -> None:
    """Refuse an address at which no Dask scheduler answers.

    Dask itself waits without end for a server that speaks another language, such as the one of its own dashboard.

    Parameters
    ----------
    address : str

    Raises
    ------
    ConnectionError
        If none answers within Dask's time for a connection.
    """
    limit = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))

    async def kind() -> str:
        return await asyncio.wait_for(_kind_of_server(address), limit)

    try:
        found = asyncio.run(kind())
    except TimeoutError:
        found = f"nothing came back within {limit:g} s"
    except Exception as error:  # whatever another server's bytes make of Dask's reader, a MemoryError among it
        found = f"{type(error).__name__}: {error}"
    if found != "Scheduler":
        raise ConnectionError(f"no Dask scheduler answers at {address}: {found}")


async def _kind_of_server(address: str) -> str:
    comm = await connect(address, **Security().get_connection_args("client"))
    try:
        await comm.write({"op": "identity", "reply": True})
        return (await comm.read())["type"]
    finally:
        comm.abort()
