"""Where the tools write: over nothing that they did not make, and through no symbolic link.

A folder that a tool made has a list of its files, with their SHA-256 sums, beside them. Files that are on the list and
unchanged are replaced by the next run; everything else is somebody's work, and the run refuses or leaves it alone.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

LIST = ".made-by-{}"


def refuse_link(path: Path) -> None:
    """Raise `FileExistsError` if a path is a symbolic link."""
    if path.is_symlink():
        raise FileExistsError(f"{path} is a symbolic link, which is not followed")


def files_in(folder: Path) -> set[str]:
    """Return the files of a folder, as paths from there."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 sums of some files of a folder."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(names)}


def made(folder: Path, tool: str) -> dict[str, str]:
    """Return what a tool made in a folder and what is still as it was: the sums of the files.

    Raises
    ------
    FileExistsError
        If the path is no folder, or one with files and no list; if the list names a file that was changed since, or a
        place outside; or if a symbolic link stands where there was none.
    """
    refuse_link(folder)
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is no folder")
    record = folder / LIST.format(tool)
    refuse_link(record)
    if not record.exists():
        if any(folder.iterdir()):
            raise FileExistsError(f"{folder} must be a new or empty folder, or one that this tool made")
        return {}
    try:
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in record.read_text().splitlines())}
    except ValueError as error:
        raise FileExistsError(f"{record} is no list of what this tool made") from error
    for name, digest in listed.items():
        path = free_of_links(folder, name)
        if path.exists() and (not path.is_file() or sums(folder, [name])[name] != digest):
            raise FileExistsError(f"{path} was changed since it was made; move it elsewhere, or delete it")
    return listed


def free_of_links(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder. Raises `FileExistsError` if it leads outside or through a link."""
    parts = Path(name).parts
    if Path(name).is_absolute() or ".." in parts:
        raise FileExistsError(f"{name} is outside of {folder}")
    path = folder
    for part in parts:
        path /= part
        refuse_link(path)
    return path


def record(folder: Path, tool: str, names: Iterable[str]) -> None:
    """Write the list of the files that a tool made in a folder."""
    lines = (f"{digest}  {name}\n" for name, digest in sums(folder, names).items())
    replace_file(folder / LIST.format(tool), "".join(lines).encode())


@contextmanager
def new_version(folder: Path, tool: str) -> Iterator[Path]:
    """Give an empty folder to write to; its files then take the place of those that the tool made in `folder` before.

    If what is done with it fails, `folder` stays as it was.

    Parameters
    ----------
    folder : Path
        New, empty, or made by this tool. Files of others that were put into it since stay there.
    tool : str
        The name of the tool, as part of a file name.

    Raises
    ------
    FileExistsError
        As by `made`, at once; afterwards if a new file is called like one that the tool did not make.
    """
    folder = Path(os.path.abspath(folder))  # of "." neither name nor parent is known
    old = made(folder, tool)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as temporary:
        stage = Path(temporary) / folder.name
        stage.mkdir()
        yield stage
        names = files_in(stage)
        for name in names - set(old):
            if os.path.lexists(free_of_links(folder, name)):
                raise FileExistsError(f"{folder / name} was not made by this tool; move it elsewhere, or delete it")
        for name in set(old) - names:
            (folder / name).unlink(missing_ok=True)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(stage / name, folder / name)
    record(folder, tool, names)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole, or leave it as it was. Raises `FileExistsError` if it is a symbolic link or no file."""
    refuse_link(path)
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is no file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as temporary:
        half = Path(temporary) / path.name
        half.write_bytes(content)
        if path.exists():
            shutil.copymode(path, half)
        os.replace(half, path)
