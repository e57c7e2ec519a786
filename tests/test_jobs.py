"""gaplib.jobs: many pieces of work on processes, and what happens if these or their scheduler go."""

import os
import socket
import stat
import tempfile
import threading
import time
from pathlib import Path

import dask
import pytest

from gaplib.jobs import cluster, work


@pytest.fixture
def one_second():
    """The time for a connection, in place of Dask's half minute."""
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        yield


def square(number):
    """What workers do: square a number; fail for 3, take the worker with it for 5."""
    if number == 3:
        raise ZeroDivisionError("three")
    if number == 5:
        os._exit(1)
    return number**2


def folder_of(_):
    """Where a worker puts what is temporary, and what else lies there."""
    return tempfile.gettempdir()


@pytest.mark.slow
def test_work_comes_back_item_by_item_and_what_is_lost_is_a_value():
    with cluster.connected(workers=2) as client:
        assert work.at_once(client) == 2
        found = dict(work.results(client, square, range(8)))
        folders = {folder for _, folder in work.results(client, folder_of, range(2))}
    lost = {item: result.error for item, result in found.items() if isinstance(result, work.Lost)}
    assert {item: result for item, result in found.items() if item not in lost} == {
        0: 0,
        1: 1,
        2: 4,
        4: 16,
        6: 36,
        7: 49,
    }
    assert isinstance(lost[3], ZeroDivisionError) and "all those workers died" in str(lost[5])
    (folder,) = folders
    assert Path(folder).name.startswith("gaplib-") and not Path(folder).exists()  # it went with the cluster


@pytest.mark.slow
def test_a_cluster_of_this_machine_has_a_folder_of_its_own(tmp_path, monkeypatch):
    """Not the one that anybody may have made in the folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "dask-scratch-space").mkdir(mode=0o777)
    with cluster.connected(workers=1) as client:
        ((_, folder),) = work.results(client, folder_of, [0])
        assert Path(folder).parent == tmp_path
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert sorted(os.listdir(tmp_path)) == sorted(["dask-scratch-space", Path(folder).name])
        assert os.listdir(tmp_path / "dask-scratch-space") == []
    assert os.listdir(tmp_path) == ["dask-scratch-space"]


class Server:
    """A server that accepts, sends some bytes, and then says nothing."""

    def __init__(self, greeting):
        self.socket, self.accepted = socket.create_server(("127.0.0.1", 0)), []
        self.address = f"tcp://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, args=(greeting,), daemon=True).start()

    def accept(self, greeting):
        while True:
            try:
                connection, _ = self.socket.accept()
                self.accepted.append(connection)
                connection.sendall(greeting)
            except OSError:
                return

    def close(self):
        for one in (self.socket, *self.accepted):
            one.close()


@pytest.mark.parametrize(
    "greeting, said",
    [
        (b"", "nothing came back within 1 s"),  # as the server of a dashboard, which waits for a request
        (b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "MemoryError"),  # read as a length, these bytes are exabytes
        (b"\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0", ""),
    ],
)
def test_a_server_that_is_no_scheduler_is_named(greeting, said, one_second):
    server = Server(greeting)
    begin = time.monotonic()
    said_first = f"^no Dask scheduler answers at {server.address}: "
    with pytest.raises(ConnectionError, match=said_first) as raised:
        cluster.check_scheduler(server.address)
    server.close()
    assert said in str(raised.value) and time.monotonic() - begin < 10


@pytest.mark.parametrize("address", ["", "127.0.0.1", "foo://127.0.0.1:1", "tls://127.0.0.1:1", "tcp://127.0.0.1:1"])
def test_an_address_that_is_none_is_named(address, one_second):
    with pytest.raises(ConnectionError, match=f"^no Dask scheduler answers at {address}: "):
        cluster.check_scheduler(address)


def test_a_scheduler_that_is_gone_is_said():
    class Gone:
        def nthreads(self):
            raise OSError("closed")

    with pytest.raises(work.SchedulerLostError, match="the Dask scheduler is gone"):
        work.at_once(Gone())
