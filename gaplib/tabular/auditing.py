"""What a released table lets others guess: attackers trained on one half of the pairs, scored on the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from gaplib import _checks, _files
from gaplib.tabular import attackers, usefulness
from gaplib.tabular import columns as _columns
from gaplib.tabular.columns import Column, Records
from gaplib.tabular.order import RowOrder

MOST_RECORDS = 20_000  # whose attack takes a minute; more would narrow intervals of .007
_Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True, repr=False)
class Audit:
    """What was found about a release.

    Attributes
    ----------
    attacks : pandas.DataFrame
        Indexed by attacker: the share of private values that it guesses from the release (`attack`) and from the
        original (`control`), each with the ends of a 95 % interval (`attack_low`, ...). NaN if none could be trained.
    baseline : tuple of float
        The share of the most frequent private value, which is guessed without any column, and its interval.
    risk : numpy.ndarray, shape (n,)
        By record, the probability that the best attacker gives to its private value; NaN for the records that the
        attackers learned from.
    distortion : pandas.DataFrame
        By column, what changed.
    cost : float
        The mean change of a record, as the budget of `TablePrivatizer` counts it.
    use : pandas.DataFrame
        Means, deviations, shares, correlations and a regression, before and after.
    n_learned, n_attacked : int
        How many records the attackers learned from, and how many they were scored on.
    private : str or int
        The private column.
    scale : {"std", "none"}
        The units of `cost`.
    gaps : list
        The columns of which the release lacks values for just the records of which the original does, so that it shows
        which these are.
    order : str
        What the order of the rows tells of the private column, in words, or nothing: no attacker uses it.
    """

    attacks: pd.DataFrame
    baseline: tuple[float, float, float]
    risk: np.ndarray
    distortion: pd.DataFrame
    cost: float
    use: pd.DataFrame
    n_learned: int
    n_attacked: int
    private: Any
    scale: str
    gaps: list
    order: str

    def __repr__(self) -> str:
        return f"<Audit: attack {self.attack:.3f}, control {self.control:.3f}, baseline {self.baseline[0]:.3f}>"

    @property
    def attack(self) -> float:
        """The accuracy of the best attacker on the release, NaN if there is none."""
        return float(self.attacks["attack"].max())

    @property
    def control(self) -> float:
        """The accuracy of the best attacker on the original, NaN if there is none."""
        return float(self.attacks["control"].max())

    def to_frame(self) -> pd.DataFrame:
        """Return all numbers as one table.

        Returns
        -------
        pandas.DataFrame
            With the columns `part`, `name`, `value`, `low` and `high`.
        """
        rows: list[tuple] = [("baseline", "most frequent value", *self.baseline)]
        for part in ("attack", "control"):
            ends = self.attacks[[part, f"{part}_low", f"{part}_high"]].itertuples(name=None)
            rows += [(part, *row) for row in ends]
        there = self.risk[~np.isnan(self.risk)]
        for share in (0.1, 0.5, 0.9):
            value = float(np.quantile(there, share)) if there.size else np.nan
            rows.append(("risk", f"quantile {share:g}", value, np.nan, np.nan))
        rows.append(("distortion", "all columns", self.cost, np.nan, np.nan))
        for part in ("squared change", "changed"):
            rows += [(part, str(name), value, np.nan, np.nan) for name, value in self.distortion[part].items()]
        for part in ("before", "after"):
            rows += [(part, name, value, np.nan, np.nan) for name, value in self.use[part].items()]
        return pd.DataFrame(rows, columns=["part", "name", "value", "low", "high"])

    def to_html(
        self, path: str | os.PathLike[str], others: Sequence[tuple[str, Audit]] = (), force: bool = False
    ) -> None:
        """Write one page that needs no other file and shows no record.

        Parameters
        ----------
        path : str or path-like
        others : sequence of pairs of str and Audit
            Other releases for the risk-utility map, with what each is called, its budget for instance: see `trade_off`.
            All must count changes by the scale of this audit.
        force : bool
            Whether a file that exists is replaced.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        FileExistsError
            If the file exists and `force` is false.
        """
        from gaplib.tabular import report  # here, because the report is made of audits

        others = list(others)
        for pair in others:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Audit)):
                raise TypeError(f"others must hold pairs of a name and an Audit, got {pair!r}")
            if pair[1].scale != self.scale:
                raise ValueError(f"others must count changes by the scale {self.scale!r}, got {pair[1].scale!r}")
        with _files.whole_file(path, _checks.flag("force", force)) as file:
            file.write(report.page(self, others).encode())


def audit(original: Any, released: Any, private: str | int, random_state: int = 0, *, scale: str = "std") -> Audit:
    """Attack a released table.

    Attackers of four kinds, which know nothing of the mechanism, learn from pairs of a released record and its private
    value in one half of the table, as an adversary might who knows some of the people in it. They guess those of the
    other half. The control is the same on the original columns.

    Parameters
    ----------
    original : DataFrame of pandas or polars, Arrow table, or array_like of shape (n, columns)
        The table, private column included.
    released : likewise
        Its release: the same records in the same order, without the private column. Of an array the columns are those
        of the original without the private one.
    private : str or int
        Name or number of the private column in `original`.
    random_state : int >= 0
        Decides who is in which half. Of more than 20,000 records so many are drawn.
    scale : {"std", "none"}
        Whether the mean change of a record counts squares in units of each column's standard deviation, or as they are.

    Returns
    -------
    Audit
        If the mechanism was fitted to these records, it is optimistic: keep a part of the table for the audit.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, the tables do not belong together, or the private column was released.
    """
    seed = _checks.integer("random_state", random_state, 0, 2**32 - 1)
    _checks.choice("scale", scale, ("std", "none"))
    before, after, columns, labels, values, name = _pairs(original, released, private)
    rows = np.random.default_rng([seed, 1]).permutation(len(labels))[:MOST_RECORDS]
    learned, attacked = _halves(rows, labels)
    # So few records to learn from that threads mostly wait for one another: on a busy machine, with six times the work.
    with threadpool_limits(1):
        found = _attacked(columns, before, after, labels, len(values), learned, attacked, seed)
    share = np.bincount(labels, minlength=len(values)).max() / len(labels)
    table = pd.DataFrame(
        {k: v for k, v in found.items() if k != "belief"}, index=pd.Index(attackers.ATTACKERS, name="attacker")
    )
    risk = np.full(len(labels), np.nan)
    if len(attacked) and table["attack"].notna().any():
        best = found["belief"][int(np.nanargmax(table["attack"].to_numpy()))]
        risk[attacked] = best[np.arange(len(attacked)), labels[attacked]]
    return Audit(
        attacks=table,
        baseline=(float(share), *interval(float(share), len(labels))),
        risk=risk,
        distortion=usefulness.distortion(columns, before, after),
        cost=usefulness.total(columns, before, after, scale),
        use=usefulness.use(columns, before, after),
        n_learned=len(learned),
        n_attacked=len(attacked),
        private=name,
        scale=scale,
        gaps=usefulness.shown_gaps(columns, before, after),
        order=_order(labels, name),
    )


def interval(share: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a probability, given the share of n trials.

    Parameters
    ----------
    share : float in [0, 1]
    n : int
        NaN at both ends if it is 0.

    Returns
    -------
    low, high : float

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    if _checks.integer("n", n, 0) == 0:
        return np.nan, np.nan
    share = _checks.real("share", share, 0, 1)
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return float(max(middle - half, 0)), float(min(middle + half, 1))


def _attacked(
    columns: list[Column], before: Records, after: Records, labels: np.ndarray, values: int,
    learned: np.ndarray, attacked: np.ndarray, seed: int,
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {"belief": []}
    for part, records in (("attack", after), ("control", before)):
        scores = []
        for name in attackers.ATTACKERS:
            score = np.nan
            if len(attacked) and len(np.unique(labels[learned])) > 1:
                halves = records.take(learned), labels[learned], records.take(attacked)
                belief = attackers.beliefs(name, columns, *halves, values, seed)
                score = float((belief.argmax(axis=1) == labels[attacked]).mean())
                if part == "attack":
                    found["belief"].append(belief)
            scores.append(score)
        ends = [(np.nan, np.nan) if np.isnan(score) else interval(score, len(attacked)) for score in scores]
        found |= {part: scores, f"{part}_low": [low for low, _ in ends], f"{part}_high": [high for _, high in ends]}
    return found


def _order(labels: np.ndarray, name: Any) -> str:
    order = RowOrder(name)
    order.add(pd.Series(labels))
    return order.warning()


def _halves(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the records to learn from and those to attack, half of each private value."""
    ordered = rows[np.argsort(labels[rows], kind="stable")]
    return np.sort(ordered[::2]), np.sort(ordered[1::2])


def _pairs(
    original: Any, released: Any, private: str | int
) -> tuple[Records, Records, list[Column], np.ndarray, tuple, Any]:
    frame = _columns.as_frame(original)
    name = _columns.column_name("private", private, frame)
    other = _columns.as_frame(released)
    if not hasattr(released, "columns"):
        names = [column for column in frame.columns if column != name]
        if len(names) != other.shape[1]:
            raise ValueError(
                f"released must have the {len(names)} public columns of the original, got {other.shape[1]}"
            )
        other.columns = pd.Index(names)
    _check_together(frame, other, name)
    values = _columns.private_levels(frame[name], fitting=False)
    columns = [_both(frame[column], other[column]) for column in other.columns]
    labels = _columns.level_codes(frame[name], values)
    return _columns.records(frame, columns), _columns.records(other, columns), columns, labels, values, name


def _check_together(frame: pd.DataFrame, other: pd.DataFrame, private: Any) -> None:
    if private in other.columns:
        raise ValueError(f"released must not hold the private column {private!r}: whoever has it need not guess")
    if other.shape[1] == 0:
        raise ValueError("released must have at least one column")
    strange = [column for column in other.columns if column not in frame.columns]
    if strange:
        raise ValueError(f"released must have columns of the original, got {strange[:5]}")
    if len(frame) != len(other):
        raise ValueError(f"original and released must have the same records, got {len(frame)} and {len(other)}")
    if len(frame) == 0:
        raise ValueError("original must have records, got none")
    if not frame.index.equals(other.index) and frame.index.sort_values().equals(other.index.sort_values()):
        raise ValueError("released must have its records in the order of the original, got another order of the index")


def _both(before: pd.Series, after: pd.Series) -> Column:
    """Return the column with all its values before and after."""
    column = _columns.public_column(before, "std")
    if column.levels is None:
        return column
    more = [level for level in _columns.levels_seen(after) if level not in column.levels]
    return Column(column.name, (*column.levels, *more))
