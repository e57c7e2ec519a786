"""Arrays in a file that holds no code: how mechanisms are kept.

The file is a ``.npz`` as NumPy writes it, without compression: a zip of arrays. Its entry ``header`` is JSON text with
the format, its version and the type of what is kept. A file is written whole or not at all. What is read is trusted in
nothing: it takes no more memory than the file has bytes, and nothing of it is run.
"""

import json
import math
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gaplib._files import whole_file

LARGEST_FILE = 1 << 30  # bytes
_LONGEST_HEADER = 1000  # characters
_MOST_ARRAYS = 100
_TYPES = {np.dtype(name) for name in ("<f4", "<f8", "<i8")}


def save(path: str | os.PathLike[str], format: str, version: int, type: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file, or replace it, in one step: whoever is interrupted leaves the old one or none.

    Parameters
    ----------
    path : str or path-like
    format : str
        What such files are, for example "gaplib mechanism".
    version : int
    type : str
        Of what is kept.
    arrays : mapping from str to numpy.ndarray
        Finite numbers, kept in double precision or as they are: single precision, integers.

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the arrays hold anything else or more than `LARGEST_FILE` bytes.
    OSError
        If the file cannot be written.
    """
    target = _path(path)
    header = np.array(json.dumps({"format": format, "version": version, "type": type}))
    entries = {"header": header, **{name: _storable(name, array) for name, array in arrays.items()}}
    if np.sum([array.nbytes for array in entries.values()]) > LARGEST_FILE // 2:
        raise ValueError(f"a file keeps at most {LARGEST_FILE // 2} bytes of arrays")
    with whole_file(target, force=True) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in entries.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, version=(1, 0), allow_pickle=False)


def load(path: str | os.PathLike[str], format: str, version: int) -> tuple[str, dict[str, np.ndarray]]:
    """Return the type of what a file keeps, and its arrays.

    Parameters
    ----------
    path : str or path-like
    format : str
    version : int

    Returns
    -------
    type : str
    arrays : dict from str to numpy.ndarray
        Of finite numbers.

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the file is not one that `save` wrote for this format and version.
    OSError
        If the file cannot be read.
    """
    source = _path(path)
    status = os.stat(source)
    if not stat.S_ISREG(status.st_mode):  # to open a pipe would be to wait
        raise ValueError(f"path must be that of a file, got {str(source)!r}")
    if status.st_size > LARGEST_FILE:
        raise ValueError(
            f"path must be that of a file of at most {LARGEST_FILE} bytes, got {str(source)!r} of {status.st_size}"
        )
    with open(source, "rb") as file:
        try:
            return _read(file, status.st_size, {"format": format, "version": version})
        except Exception as error:  # whatever other bytes make of the readers
            raise ValueError(
                f"path must be that of a file of the format {format!r}, version {version}, got {str(source)!r}: {error}"
            ) from None


def _path(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path must be the path of a file, got {path!r} of type {type(path).__name__}")
    if not Path(path).name or "\0" in str(path):
        raise ValueError(f"path must be the path of a file, got {path!r}")
    return Path(path)


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    kind = {"f": "<f4" if array.dtype == np.float32 else "<f8", "i": "<i8"}.get(array.dtype.kind)
    if kind is None:
        raise TypeError(f"{name} must be an array of numbers, got one of type {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be an array of finite numbers")
    return np.ascontiguousarray(array, dtype=kind).reshape(array.shape)


def _read(file: BinaryIO, size: int, expected: dict[str, object]) -> tuple[str, dict[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if len(set(names)) < len(names) or len(names) > _MOST_ARRAYS or not all(n.endswith(".npy") for n in names):
            raise ValueError("it does not hold arrays, each with a name of its own")
        # Without compression, and all together no longer than the file: nothing can swell as it is read.
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("it is compressed")
        if math.fsum(max(entry.file_size, entry.compress_size) for entry in entries) > size:
            raise ValueError("its entries are longer than itself")
        if "header.npy" not in names:
            raise ValueError("it has no header")
        header = _header(archive)
        if {name: header.get(name) for name in expected} != expected or not isinstance(header.get("type"), str):
            raise ValueError(f"its header is {header}")
        arrays = {name.removesuffix(".npy"): _array(archive, name) for name in names if name != "header.npy"}
    return header["type"], arrays


def _header(archive: zipfile.ZipFile) -> dict:
    text = _array_of(archive, "header.npy", text=True)
    header = json.loads(str(text[()]))
    if not isinstance(header, dict) or isinstance(header.get("version"), bool):
        raise ValueError("its header is no object of JSON")
    return header


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    array = _array_of(archive, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds infinite numbers or NaN")
    return array


def _array_of(archive: zipfile.ZipFile, name: str, text: bool = False) -> np.ndarray:
    """Return an array whose header says no more than its bytes do."""
    with archive.open(name) as entry:
        if np.lib.format.read_magic(entry) != (1, 0):
            raise ValueError(f"{name} is of another version")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(entry)
        content = entry.read()  # to the end, where its checksum is compared
    if text:
        right = dtype.kind == "U" and shape == () and dtype.itemsize <= 4 * _LONGEST_HEADER
    else:
        right = dtype in _TYPES
    if not right or (fortran and len(shape) > 1) or min(shape, default=0) < 0:
        raise ValueError(f"{name} is of type {dtype} and shape {shape}")
    if len(content) != dtype.itemsize * math.prod(shape):
        raise ValueError(f"{name} says that it is longer than it is, or shorter")
    return np.frombuffer(content, dtype).reshape(shape).copy()
