"""What is released: the privatizer's side of the game.

Every mechanism is a value with `privatize`, and can be kept in a file: ``mechanism.save(path)``, and back with
``load(path)``. The file is a ``.npz`` of NumPy and holds no code.
"""

import os

from gaplib import _storage
from gaplib.mechanisms.affine import AffineGaussian
from gaplib.mechanisms.binary import BinaryKernel
from gaplib.mechanisms.finite import FiniteKernel
from gaplib.mechanisms.piecewise import PiecewiseKernel
from gaplib.mechanisms.sample_plan import SamplePlan
from gaplib.mechanisms.saved import FORMAT, VERSION, Saved
from gaplib.mechanisms.transport_map import TransportMap

__all__ = [
    "AffineGaussian",
    "BinaryKernel",
    "FiniteKernel",
    "PiecewiseKernel",
    "SamplePlan",
    "Saved",
    "TransportMap",
    "load",
]

_TYPES: dict[str, type[Saved]] = {
    kind.__name__: kind
    for kind in (AffineGaussian, BinaryKernel, FiniteKernel, PiecewiseKernel, SamplePlan, TransportMap)
}


def load(path: str | os.PathLike[str]) -> Saved:
    """Return the mechanism that was saved in a file. The file may come from anywhere: nothing of it is run.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    BinaryKernel, AffineGaussian, FiniteKernel, TransportMap, PiecewiseKernel or SamplePlan
        With the same numbers, to the bit.

    Raises
    ------
    TypeError, ValueError
        If `path` is not the path of a file, or the file is not one that `Saved.save` of this version wrote.
    OSError
        If the file cannot be read.
    """
    kind, arrays = _storage.load(path, FORMAT, VERSION)
    if kind not in _TYPES:
        raise ValueError(f"path must be that of a mechanism of this version, got one of type {kind!r}")
    try:
        return _TYPES[kind]._of_arrays(arrays)
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"path must be that of a {kind}, got {os.fspath(path)!r}: {error}") from None
