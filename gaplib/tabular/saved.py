"""A fitted privatizer as a file of arrays, in the format in which mechanisms are kept."""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gaplib import _checks, _storage
from gaplib.mechanisms import NetworkMechanism
from gaplib.tabular.affine import Affine
from gaplib.tabular.columns import Column, Records
from gaplib.tabular.neural import Neural
from gaplib.tabular.noise import Noise, epsilons
from gaplib.tabular.plans import Plan
from gaplib.tabular.privatizer import METHODS, Mechanism, TablePrivatizer
from gaplib.tabular.space import Space

_FORMAT, _VERSION, _TYPE = "gaplib mechanism", 1, "TablePrivatizer"


def save(privatizer: TablePrivatizer, path: str | os.PathLike[str]) -> None:
    """Write a fitted privatizer into a file without code, or replace the file, in the format of learned mechanisms.

    Of "transport" the file holds means of groups of records, in small tables records themselves, and of "neural" a
    network that may have learned some by heart: it is as secret as the table. Of the other methods it holds statistics
    of columns and no record. It does not hold the seed: `load` takes a new one.

    Parameters
    ----------
    privatizer : TablePrivatizer
    path : str or path-like

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a column has a name or values that are neither text nor numbers.
    OSError
        If the file cannot be written.
    sklearn.exceptions.NotFittedError
        If it was not fitted.
    """
    check_is_fitted(_checks.instance("privatizer", privatizer, TablePrivatizer))
    described = {
        "parameters": {name: getattr(privatizer, name) for name in ("budget", "kind", "method", "scale")},
        "private": privatizer.private_,
        "values": privatizer.private_values_,
        "columns": [dataclasses.asdict(column) for column in privatizer.columns_],
        "records": privatizer.n_records_,
        "features": getattr(privatizer, "feature_names_in_", np.array([])).tolist(),
        "width": privatizer.n_features_in_,
    }
    try:
        text = json.dumps(described, default=_plain).encode()
    except TypeError as error:
        raise ValueError(f"the names and values of columns must be text or numbers to be kept, got {error}") from None
    arrays = {"description": np.frombuffer(text, np.uint8).astype(np.int64), **_arrays(privatizer.mechanism_)}
    _storage.save(path, _FORMAT, _VERSION, _TYPE, arrays)


def load(path: str | os.PathLike[str]) -> TablePrivatizer:
    """Return a fitted privatizer from a file, with a seed of its own from the operating system.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    TablePrivatizer

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the file does not keep a `TablePrivatizer`.
    OSError
        If the file cannot be read.
    """
    kind, arrays = _storage.load(path, _FORMAT, _VERSION)
    if kind != _TYPE:
        raise ValueError(f"path must be that of a TablePrivatizer, got {os.fspath(path)!r} with a {kind}")
    try:
        return _privatizer(arrays)
    except Exception as error:  # whatever other arrays make of it
        raise ValueError(
            f"path must be that of a TablePrivatizer, got {os.fspath(path)!r}: {type(error).__name__}: {error}"
        ) from None


def _privatizer(arrays: dict[str, np.ndarray]) -> TablePrivatizer:
    described = json.loads(arrays["description"].astype(np.uint8).tobytes())
    columns = [_column(**column) for column in described["columns"]]
    if described["parameters"]["method"] not in METHODS or described["parameters"]["kind"] not in ("pdd", "pdi"):
        raise ValueError(f"its parameters are {described['parameters']}")
    names = [column.name for column in columns]
    privatizer = TablePrivatizer(described["private"], public=names, random_state=None, **described["parameters"])
    privatizer.private_, privatizer.private_values_ = described["private"], tuple(described["values"])
    privatizer.columns_, privatizer.n_records_ = columns, int(described["records"])
    privatizer.n_features_in_ = int(described["width"])
    if described["features"]:
        privatizer.feature_names_in_ = np.array(described["features"], dtype=object)
    privatizer.seed_ = secrets.randbits(63)
    mechanism = _mechanism(described["parameters"]["method"], columns, arrays)
    privatizer.mechanism_ = mechanism
    privatizer.epsilon_ = epsilons(columns, mechanism) if isinstance(mechanism, Noise) else None
    return privatizer


def _column(levels: list | None, **others: Any) -> Column:
    return Column(levels=None if levels is None else tuple(levels), **others)


def _arrays(mechanism: Mechanism) -> dict[str, np.ndarray]:
    if isinstance(mechanism, Affine):
        return {"shifts": mechanism.shifts, "scales": mechanism.scales}
    if isinstance(mechanism, Noise):
        return {"deviations": mechanism.deviations, "flips": mechanism.flips, "sizes": mechanism.sizes}
    if isinstance(mechanism, Neural):
        own = {"columns": mechanism.columns, "centers": mechanism.centers, "units": mechanism.units}
        return own | {f"network_{name}": array for name, array in mechanism.network._arrays().items()}
    arrays = {
        "groups": mechanism.groups,
        "first": mechanism.first,
        "until": mechanism.until,
        "bounds": mechanism.bounds,
    }
    for name, part in (("cells", mechanism.cells), ("targets", mechanism.targets)):
        absent = np.isnan(part.numbers)
        arrays[f"{name}_numbers"] = np.where(absent, 0, part.numbers)
        arrays[f"{name}_missing"] = absent.astype(np.int64)
        arrays[f"{name}_codes"] = part.codes
    return arrays


def _mechanism(method: str, columns: list[Column], arrays: dict[str, np.ndarray]) -> Mechanism:
    if method == "affine":
        return Affine(arrays["shifts"], arrays["scales"])
    if method in ("gaussian", "laplace"):
        return Noise(method, arrays["deviations"], arrays["flips"], arrays["sizes"])
    if method == "neural":
        return _neural(columns, arrays)
    cells, targets = (_records(arrays, name) for name in ("cells", "targets"))
    first, groups = arrays["first"], arrays["groups"]
    right = len(first) == 1 + len(cells) * (groups.max() + 1) and first[-1] == len(targets) == len(arrays["until"])
    right &= arrays["bounds"].shape == (2, cells.numbers.shape[1])
    if not right or (np.diff(first) < 1).any() or first[0] != 0 or groups.min() < 0:
        raise ValueError("its plan does not fit together")
    return Plan(Space.of(columns), groups, cells, first, arrays["until"], targets, arrays["bounds"])


def _neural(columns: list[Column], arrays: dict[str, np.ndarray]) -> Neural:
    parts = {name.removeprefix("network_"): array for name, array in arrays.items() if name.startswith("network_")}
    network = NetworkMechanism._of_arrays(parts)
    mechanism = Neural(arrays["columns"], arrays["centers"], arrays["units"], network)
    moved, d = mechanism.columns, mechanism.network.center.size
    right = moved.shape == mechanism.centers.shape == mechanism.units.shape == (d,)
    right &= network.noise == network.jitter == 0  # it draws nothing but one number for each record
    if not right or len(set(moved)) < d or moved.min() < 0 or moved.max() >= len(columns):
        raise ValueError("its network does not fit its columns")
    return mechanism


def _records(arrays: dict[str, np.ndarray], name: str) -> Records:
    numbers = np.where(arrays[f"{name}_missing"] != 0, np.nan, arrays[f"{name}_numbers"])
    return Records(numbers, arrays[f"{name}_codes"])


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__}")
