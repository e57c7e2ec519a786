"""One function for many items, each on some worker of a cluster."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future, as_completed


class SchedulerLostError(ConnectionError):
    """The scheduler is gone, and with it what had not come back."""


@dataclass(frozen=True)
class Lost:
    """In place of a result: the work took its workers with it, or raised an error.

    Attributes
    ----------
    error : Exception
        Dask's ``KilledWorker``, or what the function raised.
    """

    error: BaseException


def at_once(client: Client) -> int:
    """Return how many pieces of work a cluster does at once, one for each thread of its workers.

    Parameters
    ----------
    client : distributed.Client

    Returns
    -------
    int
        0 while it has no worker.

    Raises
    ------
    SchedulerLostError
        If the scheduler is gone.
    """
    try:
        return sum(client.nthreads().values())
    except OSError as error:
        raise SchedulerLostError("the Dask scheduler is gone") from error


def results(client: Client, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each item with its result, in the order in which they are done.

    Dask is given one item for each thread that its workers have, and another when one is done: work begins in the
    order of the items, ten thousand need no more memory than ten, and workers that join later get theirs.

    Parameters
    ----------
    client : distributed.Client
    function : callable
        Called with an item, on a worker, which must be able to import it.
    items : iterable

    Yields
    ------
    item
    result
        What the function returned, or `Lost`.

    Raises
    ------
    SchedulerLostError
        If the scheduler is gone.
    """
    waiting = iter(items)
    given: dict[Future, Any] = {}
    done = as_completed(raise_errors=False)

    def give() -> None:
        for item in itertools.islice(waiting, max(0, max(1, at_once(client)) - len(given))):
            future = client.submit(function, item, pure=False)
            given[future] = item
            done.add(future)

    give()
    for future in done:
        item = given.pop(future)
        if future.status == "cancelled" or client.status != "running":
            raise SchedulerLostError("the Dask scheduler is gone")
        yield item, Lost(future.exception()) if future.status == "error" else future.result()
        future.release()
        give()
