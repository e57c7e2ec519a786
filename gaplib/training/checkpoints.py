"""Training on disk: what a killed process had learned, so that another goes on from there to the same bits.

A folder has one file for each set of games that are played together, named after all that determines their training. It
holds arrays of numbers only, and loading runs nothing of it.
"""

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from gaplib.training._tensorflow import tf
from gaplib.training.games import Game
from gaplib.training.programs import Program

SECONDS = 30.0  # between two writes; a kill costs no more than that
FORMAT = "gaplib training 1"
NAME = re.compile(r"games-[0-9a-f]{32}\.npz(\.part)?")


class Moment(NamedTuple):
    """Where training stands.

    Attributes
    ----------
    state : list of numpy.ndarray
        The parts of the engine's `State`.
    course : numpy.ndarray, shape (iterations, 3, G)
        What the engine has recorded.
    iterations : int
        How many have been played.
    """

    state: list[np.ndarray]
    course: np.ndarray
    iterations: int


class Checkpoint:
    """The file of the games that are played together.

    Parameters
    ----------
    folder : pathlib.Path
        As `private_folder` returns it.
    program : Program
    games : sequence of pairs (Game, int)
        Each with its seed.
    """

    def __init__(self, folder: Path, program: Program, games: Iterable[tuple[Game, int]]) -> None:
        self._path = folder / f"games-{_fingerprint(program, games)[:32]}.npz"
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Return whether it is time to write again."""
        return time.monotonic() - self._last >= SECONDS

    def load(self, like: Moment) -> Moment | None:
        """Return what was saved last, or None if nothing was.

        Parameters
        ----------
        like : Moment
            Of the same games, at any time.

        Raises
        ------
        ValueError
            If the file holds anything else.
        """
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ValueError(
                f"checkpoint must hold files of its own only, got {self._path}: {error.strerror}"
            ) from None
        with open(descriptor, "rb") as file:
            try:
                return _read(file, like)
            except Exception as error:  # whatever bytes that are no checkpoint make of the reader
                raise ValueError(
                    f"checkpoint must hold what this training wrote, but {self._path} is damaged ({error}): "
                    "delete it to begin anew"
                ) from None

    def save(self, moment: Moment) -> None:
        """Write, in one step: a kill leaves the old file or the new one."""
        part = self._path.with_name(self._path.name + ".part")
        with suppress(FileNotFoundError):
            part.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(part, flags, 0o600), "wb") as file:
            arrays = {f"state{i}": array for i, array in enumerate(moment.state)}
            arrays |= {"course": moment.course, "format": np.array(FORMAT), "iterations": np.array(moment.iterations)}
            np.savez(file, **arrays)  # type: ignore[arg-type]  # a flag of its own is among its keywords
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path)
        self._last = time.monotonic()


def private_folder(name: str, value: str | os.PathLike[str]) -> Path:
    """Return the folder, made if it is missing, and refuse one that others may write to or that holds other files.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    value : str or path-like

    Raises
    ------
    TypeError, ValueError
        If it is not such a folder.
    """
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be the path of a folder, got {value!r} of type {type(value).__name__}")
    folder = Path(value)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{name} must be a folder, got {str(folder)!r}: {error.strerror}") from None
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise ValueError(f"{name} must be a folder and no link, got {str(folder)!r}")
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise ValueError(f"{name} must be a folder that only its owner, you, can write to, got {str(folder)!r}")
    foreign = sorted(entry.name for entry in folder.iterdir() if not NAME.fullmatch(entry.name))
    if foreign:
        raise ValueError(
            f"{name} must be a folder of checkpoints and nothing else, got {str(folder)!r} with {foreign[0]!r}"
        )
    return folder


def _read(file: BinaryIO, like: Moment) -> Moment:
    with np.load(file, allow_pickle=False) as found:
        if str(found["format"]) != FORMAT:
            raise ValueError(f"its format is {found['format']}")
        iterations = int(found["iterations"])
        moment = Moment([found[f"state{i}"] for i in range(len(like.state))], found["course"], iterations)
    shapes = [part.shape for part in like.state] + [(iterations, *like.course.shape[1:])]
    if [part.shape for part in (*moment.state, moment.course)] != shapes:
        raise ValueError("its arrays have other shapes")
    if any(part.dtype != np.float32 for part in (*moment.state, moment.course)):
        raise ValueError("its arrays have other types")
    return moment


def _fingerprint(program: Program, games: Iterable[tuple[Game, int]]) -> str:
    """Return a name for all that determines the training: settings, records, seeds and versions."""
    digest = hashlib.sha256(f"{FORMAT}, TensorFlow {tf.__version__}, NumPy {np.__version__}, {program}".encode())
    rules = program.rules
    for game, seed in games:
        digest.update(f"{game.D!r}, {game.kind}, {game.records}, {seed}".encode())
        if game.start is not None:
            digest.update(f"{game.start.share}".encode())
            for array in (*game.start.weights, *game.start.biases, game.start.center, np.array(game.start.scale)):
                digest.update(array.tobytes())
        for part in (game.source, game.test):
            if isinstance(part, tuple):
                for array in part:
                    digest.update(str((array.shape, array.dtype)).encode() + array.tobytes())
            else:
                digest.update(repr(part).encode())
    for player in (rules.privatizer, rules.adversary, rules.constraint):
        if type(player).__repr__ is object.__repr__:
            raise TypeError(f"with a checkpoint, {type(player).__name__} must have a repr that tells its settings")
    return digest.hexdigest()
