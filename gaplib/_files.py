"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block has ended without an error.

    On Linux it has no name before that: whatever ends the program, nothing is left. Elsewhere a kill leaves a file
    whose name begins with a dot and ends in ``.part``.

    Parameters
    ----------
    path : str or path-like
    force : bool
        Whether a file that exists is replaced.

    Yields
    ------
    file
        Open for writing bytes.

    Raises
    ------
    FileExistsError
        If the file exists and `force` is false; also if it came to exist during the block.
    OSError
        If the file cannot be written.
    """
    target = Path(path)
    check_free(target, force)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    with contextlib.ExitStack() as stack:
        descriptor = _nameless(target.parent)
        if descriptor is None:
            stack.callback(part.unlink, missing_ok=True)
            with _blaming(target):
                descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            named = True
        else:
            named = False
        file = stack.enter_context(os.fdopen(descriptor, "w+b"))
        yield file
        with _blaming(target):
            file.flush()
            os.fsync(file.fileno())
        source = str(part) if named else f"/proc/self/fd/{file.fileno()}"
        if not force:
            _link(source, target, file.fileno())  # fails if the name has been taken meanwhile
            return
        if not named:
            stack.callback(part.unlink, missing_ok=True)
            _link(source, part, file.fileno())
        with _blaming(target):
            os.replace(part, target)


def check_free(path: str | os.PathLike[str], force: bool) -> None:
    """Refuse a path that cannot become a file, or is one that must not be replaced.

    Parameters
    ----------
    path : str or path-like
    force : bool

    Raises
    ------
    FileExistsError
        If the file exists and `force` is false.
    OSError
        If it is a folder or anything else that is no file, or is in none.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r}")
    if os.path.lexists(target) and not target.is_file():
        raise IsADirectoryError(f"{str(target)!r} exists and is no file")
    if os.path.lexists(target) and not force:
        raise FileExistsError(f"{str(target)!r} exists; --force, or force=True, replaces it")


@contextlib.contextmanager
def _blaming(target: Path) -> Iterator[None]:
    """Name the file that was asked for in an error, not the one that was to become it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from None


def _nameless(folder: Path) -> int | None:
    """Return a descriptor of a file without a name, or None where there are none."""
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        return descriptor if os.path.exists("/proc/self/fd") else None
    except (AttributeError, OSError):  # not Linux, or a file system without them
        return None


def _link(source: str, target: Path, descriptor: int) -> None:
    try:
        with _blaming(target):
            # With any descriptor, which an absolute path ignores, Python calls linkat, which follows /proc/self/fd.
            os.link(source, target, src_dir_fd=descriptor, follow_symlinks=True)
    except FileExistsError:
        raise FileExistsError(f"{str(target)!r} exists; --force, or force=True, replaces it") from None
