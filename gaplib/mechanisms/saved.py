"""What all mechanisms of the library share: they can be kept in a file."""

from __future__ import annotations

import dataclasses
import os
from typing import Self

import numpy as np

from gaplib import _storage

FORMAT, VERSION = "gaplib mechanism", 1


class Saved:
    """A mechanism that can be kept in a file. It is a dataclass, and its fields are what the file holds."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mechanism to a file, from which `gaplib.mechanisms.load` reads it.

        The file is a ``.npz`` of NumPy with the fields of the mechanism as arrays, and a ``header``: JSON text with
        "format" ("gaplib mechanism"), "version" (1) and "type" (the name of the class). It holds no code. It is written
        whole or not at all; what was there before is replaced.

        Parameters
        ----------
        path : str or path-like
            Taken as it is: no suffix is added.

        Raises
        ------
        TypeError, ValueError
            If `path` is not the path of a file, or the arrays have more than half a gigabyte.
        OSError
            If the file cannot be written.
        """
        _storage.save(path, FORMAT, VERSION, type(self).__name__, self._arrays())

    def _arrays(self) -> dict[str, np.ndarray]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields}

    @classmethod
    def _of_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """Return the mechanism that `_arrays` describes; the constructor checks what it is given."""
        return cls(**{name: array.item() if array.ndim == 0 else array for name, array in arrays.items()})
