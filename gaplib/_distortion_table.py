"""What it costs to release a letter for another: the table of a named distortion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gaplib import _checks
from gaplib.models import BinaryModel, FiniteModel

Distortion = str | ArrayLike | None


def distortion_table(model: FiniteModel | BinaryModel, distortion: Distortion) -> np.ndarray:
    """Return ``table[i, k]``, the cost of releasing letter k for letter i, shape (n, K).

    Parameters
    ----------
    model : FiniteModel or BinaryModel
    distortion : {"hamming", "squared"}, array_like of shape (n, K), or None
        For the two words the letters themselves are released. None is "squared" where letters have points, and
        "hamming" elsewhere.

    Returns
    -------
    numpy.ndarray, shape (n, K)

    Raises
    ------
    TypeError, ValueError
        If `distortion` is not as described, or "squared" and the letters have no points.
    """
    n = model.joint.shape[0]
    points = np.array([[0.0], [1.0]]) if isinstance(model, BinaryModel) else model.points
    if distortion is None:
        distortion = "hamming" if points is None else "squared"
    if isinstance(distortion, str):
        if _checks.choice("distortion", distortion, ("hamming", "squared")) == "hamming":
            return 1 - np.eye(n)
        if points is None:
            raise ValueError("distortion must be 'hamming' or a table where the model has no points, got 'squared'")
        return ((points[:, np.newaxis] - points) ** 2).sum(axis=-1)
    table = _checks.array("distortion", distortion, 0, _checks.LARGEST_NUMBER)
    if table.ndim != 2 or table.shape[0] != n or table.shape[1] == 0:
        raise ValueError(
            f"distortion must be a table with a row for each of the {n} letters and a column for each letter of "
            f"release, got shape {table.shape}"
        )
    return table
