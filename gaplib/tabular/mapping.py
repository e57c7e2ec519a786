"""Risk against utility: one audit for each of several budgets, on records that the mechanism was not fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gaplib import _checks
from gaplib.tabular import columns as _columns
from gaplib.tabular.auditing import Audit, audit
from gaplib.tabular.privatizer import TablePrivatizer

MOST_RECORDS = 20_000  # for each half: enough for a plan and for narrow intervals


def trade_off(
    X: Any, privatizer: TablePrivatizer, budgets: ArrayLike, random_state: int = 0
) -> list[tuple[str, Audit]]:
    """Audit a privatizer at several budgets, each fitted to one half of a table and audited on the other.

    Parameters
    ----------
    X : DataFrame of pandas or polars, Arrow table, or array_like of shape (n, columns)
        The table, private column included. Of more than 40,000 records so many are drawn.
    privatizer : TablePrivatizer
        Its parameters count, but for the budget; it need not be fitted, and is not changed.
    budgets : array_like of float, shape (k,)
    random_state : int >= 0
        Decides who is in which half.

    Returns
    -------
    list of pairs of str and Audit
        For each budget its name and what was found, as `Audit.to_html` takes them, in the units of the budget.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or half of the table is too small for the method: a private value that only
        three records have, for instance, may leave one of them.
    """
    _checks.instance("privatizer", privatizer, TablePrivatizer)
    array = _checks.array("budgets", budgets, 0, _checks.LARGEST_NUMBER)
    if array.ndim != 1:
        raise ValueError(f"budgets must be one-dimensional, got shape {array.shape}")
    return list(_audits(X, privatizer, array.tolist(), _checks.integer("random_state", random_state, 0, 2**32 - 1)))


def _audits(X: Any, privatizer: TablePrivatizer, budgets: Iterable[float], seed: int) -> Iterator[tuple[str, Audit]]:
    frame = _columns.as_frame(X)
    private = _columns.column_name("private", privatizer.private, frame)
    values = _columns.private_levels(frame[private])
    fitted, kept = _halves(_columns.level_codes(frame[private], values), seed)
    for budget in budgets:
        other = clone(privatizer).set_params(budget=budget, private=private).set_output(transform="default")
        other.fit(frame.iloc[fitted])
        rest = frame.iloc[kept]
        yield f"{budget:g}", audit(rest, other.transform(rest), private, seed, scale=privatizer.scale)


def _halves(labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the records to fit and of those to audit, half of each private value."""
    order = np.random.default_rng([seed, 2]).permutation(len(labels))[: 2 * MOST_RECORDS]
    ordered = order[np.argsort(labels[order], kind="stable")]
    return np.sort(ordered[::2]), np.sort(ordered[1::2])
