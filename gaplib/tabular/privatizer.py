"""The estimator: what is learned of a table, and the release of records."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gaplib import _checks, _random
from gaplib.tabular import columns as _columns
from gaplib.tabular.affine import Affine, affine
from gaplib.tabular.columns import Column, Records
from gaplib.tabular.grid import dearer, on_grid, step_of
from gaplib.tabular.neural import FEWEST_RECORDS as FEWEST_FOR_NETWORKS
from gaplib.tabular.neural import Neural, neural
from gaplib.tabular.noise import Noise, epsilons, noise
from gaplib.tabular.plans import Plan, plan
from gaplib.tabular.space import Space

METHODS = ("transport", "neural", "affine", "gaussian", "laplace")
Mechanism = Plan | Neural | Affine | Noise
# Records that share a stream of random numbers, so that a table is released alike in one piece and in many.
_BLOCK = 1 << 16


class TablePrivatizer(TransformerMixin, BaseEstimator):
    """Hide one column of a table in the others: fit to a table, then release it or new records.

    What it promises: against an adversary who sees the released columns of one record and knows everything about the
    distribution, the private column is guessed as rarely as the budget allows, on average over records that come from
    the same distribution as those of the fit. It is no differential privacy: nothing is promised for a single record in
    the worst case, for a second release of the same records, for another secret, or if the distribution shifts.

    ========================= ================ ================================================ ================
    method                    kind             public columns                                   private values
    ========================= ================ ================================================ ================
    "transport"               "pdd" or "pdi"   any number, numeric and categorical, mixed       2 to 20
    "neural"                  "pdd" or "pdi"   any number, numeric                              2
    "affine"                  "pdd" or "pdi"   one, numeric                                     2
    "gaussian", "laplace"     either: noise    any number, numeric and categorical, mixed       2 to 20
                              never uses Y
    ========================= ================ ================================================ ================

    Values may be missing in public columns. "transport" hides that they are, like any other value. With the other
    methods a number that is missing stays missing, so that the release shows which records have gaps: if that tells of
    the private column, fill them or leave the column out. For noise a gap in a category is one more category, and
    hidden like these. A network takes the column's mean for a gap, and leaves a part of the budget. It sees columns in
    one common unit: if they differ much in theirs, it needs ``scale="std"``.

    "neural", and "affine" of kind "pdd", release round numbers only, in steps of .2 to .4 standard deviations, or
    longer where values pile up at rounder ones: finer digits would tell the private value. "transport" releases a
    record as it is if it is so far from the others that to move it would spend the whole budget. A release has its
    records in the order of the table, and its index: neither may tell the private value.

    After the fit, `private_values_` are the values of the private column, `n_records_` is the number of records fitted,
    and `epsilon_` says for noise, by column, for which epsilon of local differential privacy it would stand if the
    column's range were known beforehand, with delta = 1e-5 for Gaussian noise.

    Parameters
    ----------
    private : str or int
        Name or number of the private column, which is in the table and never in the release.
    budget : float in [0, 1e50]
        The largest mean cost of a change: the sum over numeric columns of the squared change, plus the number of
        categories that change, and of values that go missing or come back. On the fitted records it is kept (by
        "neural" to half a percent); what new ones cost beyond that, "transport" estimates by cross-validation where
        records are few, and saves.
    public : sequence of str or int, or None
        The columns to release; None takes all but the private one.
    kind : {"pdd", "pdi"}
        Whether the mechanism may use the private column of the record that it releases.
    method : {"transport", "neural", "affine", "gaussian", "laplace"}
        See the table; "transport" is the optimum of the sample over all mechanisms, "neural" a network that learns in
        the game of the paper (`gaplib.training`): it takes TensorFlow, seconds, and thousands of records rather than
        hundreds. Of kind "pdi" it has ended .02 to .06 above the optimum on two Gaussians, by its seed.
    scale : {"std", "none"}
        Squared changes are counted in units of each column's standard deviation, or as they are.
    random_state : int >= 0, None, or numpy.random.RandomState
        The seed of what is random in fit and release; None takes one from the operating system. Whoever knows the seed
        can undo noise, so a seed that was published, such as the default, is for experiments.

    Raises
    ------
    TypeError, ValueError
        By `fit` and `transform`, if a parameter or the table is not as described: the error says which column and why,
        and shows no record.

    Examples
    --------
    >>> TablePrivatizer("sex", budget=0.3).fit_transform(table)  # doctest: +SKIP
    """

    def __init__(
        self,
        private: str | int,
        budget: float,
        *,
        public: Sequence[str | int] | None = None,
        kind: str = "pdd",
        method: str = "transport",
        scale: str = "std",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.private = private
        self.budget = budget
        self.public = public
        self.kind = kind
        self.method = method
        self.scale = scale
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TablePrivatizer:
        """Learn the mechanism.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, or array_like of shape (n, columns)
            The table, private column included.
        y : None
            Ignored.

        Returns
        -------
        TablePrivatizer
            Itself.

        Raises
        ------
        TypeError, ValueError
            If a parameter or the table is not as described.
        ImportError
            If the method is "neural", and TensorFlow is not installed.
        """
        D = _checks.real("budget", self.budget, 0, _checks.LARGEST_NUMBER)
        _checks.choice("kind", self.kind, ("pdd", "pdi"))
        _checks.choice("method", self.method, METHODS)
        _checks.choice("scale", self.scale, ("std", "none"))
        seed = _seed(self.random_state)
        frame = _columns.as_frame(X)
        validate_data(self, X if hasattr(X, "columns") else frame.to_numpy(), skip_check_array=True)
        private = _columns.column_name("private", self.private, frame)
        names = _columns.public_names(self.public, private, frame)
        if len(frame) < _columns.FEWEST_RECORDS:
            raise ValueError(
                f"X must have at least {_columns.FEWEST_RECORDS} records to learn from, got n_samples = {len(frame)}"
            )
        values = _columns.private_levels(frame[private])
        found = [_columns.public_column(frame[name], self.scale) for name in names]
        _check_method(self.method, found, values, len(frame))
        labels = _columns.level_codes(frame[private], values)
        records = _columns.records(frame, found)
        # Noise that is the same for both private values has no digits that tell them, nor have points that many share.
        if D > 0 and (self.method == "neural" or (self.method == "affine" and self.kind == "pdd")):
            found = _with_steps(found, records)
        self.mechanism_ = self._mechanism(found, records, labels, len(values), D, seed)
        self.private_, self.private_values_ = private, values
        self.columns_, self.n_records_, self.seed_ = found, len(frame), seed
        self.epsilon_ = epsilons(found, self.mechanism_) if isinstance(self.mechanism_, Noise) else None
        return self

    def transform(self, X: Any) -> Any:
        """Release records.

        Parameters
        ----------
        X : like that of `fit`
            The private column may be left out if the mechanism does not use it.

        Returns
        -------
        DataFrame or numpy.ndarray
            The public columns, as data frame of the library that X came from, unless `set_output` says otherwise.

        Raises
        ------
        TypeError, ValueError
            If a column is missing, its values are of another type, or the private column has a value that was not
            fitted.
        sklearn.exceptions.NotFittedError
            If `fit` was not called.
        """
        check_is_fitted(self)
        frame = _columns.as_frame(X)
        if not hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
            if frame.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {frame.shape[1]} features, but TablePrivatizer is expecting {self.n_features_in_} features"
                )
            frame.columns = pd.Index(getattr(self, "feature_names_in_", frame.columns))
        if self.random_state is None:  # the noise of one release must not be that of another
            self.seed_ = _seed(None)
        released = self.release_part(frame, 0)
        if isinstance(X, pd.DataFrame):
            return released
        if hasattr(X, "to_pandas"):
            return _like(X, released)
        return released.to_numpy()

    def release_part(self, frame: pd.DataFrame, start: int) -> pd.DataFrame:
        """Release the records of a large table from number `start` on.

        Parameters
        ----------
        frame : pandas.DataFrame
            A part of the table.
        start : int
            The number of its first record: a table is released alike in one piece and in many.

        Returns
        -------
        pandas.DataFrame
            Its public columns.

        Raises
        ------
        TypeError, ValueError
            As for `transform`.
        """
        check_is_fitted(self)
        missing = [name for name in self.needed_names() if name not in frame.columns]
        if missing:
            raise ValueError(f"X must have the columns of the fit, got none of the name {missing[0]!r}")
        if self.private_ in frame.index.names:
            raise ValueError(f"the index of X must not be the private column {self.private_!r}: it would be released")
        before = _columns.records(frame, self.columns_)
        draws = self.mechanism_.draws
        rounded = before.numbers.shape[1] if any(column.step for column in self.columns_) else 0
        uniform = _uniform(self.seed_, start, len(frame), draws + rounded)
        # Nothing was learned of what hides the private value of records unlike those fitted: it is not looked at there.
        labels = np.where(_unseen(before, self.columns_), 0, self._labels(frame))
        after = self.mechanism_.release(before, labels, uniform[:, :draws])
        if rounded:
            after = on_grid(after, self.columns_, uniform[:, draws:])
        return _columns.replaced(frame, self.columns_, before, after)

    def needed_names(self) -> list[Any]:
        """Return the names of the columns that a table to be released must have.

        Returns
        -------
        list of str or int
            The public columns, and the private one last if the mechanism uses it.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` was not called.
        """
        check_is_fitted(self)
        return [column.name for column in self.columns_] + ([self.private_] if self._sees_private() else [])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the released columns.

        Parameters
        ----------
        input_features : array_like of str or None
            Names that the fit must have seen, or None.

        Returns
        -------
        numpy.ndarray of object, shape (columns,)

        Raises
        ------
        ValueError
            If `input_features` are other names than those of the fit.
        """
        check_is_fitted(self)
        names = np.asarray([column.name for column in self.columns_], dtype=object)
        if input_features is None:
            return names
        given = np.asarray(input_features, dtype=object)
        if len(given) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features")
        if hasattr(self, "feature_names_in_"):
            if list(given) != list(self.feature_names_in_):
                raise ValueError("input_features is not equal to feature_names_in_")
            return names
        return given[[int(str(name)[1:]) for name in names]]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _mechanism(
        self, found: list[Column], records: Records, labels: np.ndarray, values: int, D: float, seed: int
    ) -> Mechanism:
        if self.method == "transport":
            random = _random.generator(seed, "TablePrivatizer.fit")
            return plan(Space.of(found), records, labels, values, self.kind, D, random)
        D = _beyond_steps(D, found, self.method)
        if self.method == "neural":
            return neural(Space.of(found), records, labels, self.kind, D, seed)
        if self.method == "affine":
            D = min(D * found[0].unit ** 2 / (1 - found[0].missing), _checks.LARGEST_NUMBER)
            return affine(records.numbers[:, 0], labels, self.kind, D)
        return noise(found, self.method, D)

    def _sees_private(self) -> bool:
        return self.kind == "pdd" and not isinstance(self.mechanism_, Noise)

    def _labels(self, frame: pd.DataFrame) -> np.ndarray:
        if not self._sees_private():
            return np.zeros(len(frame), int)
        labels = _columns.level_codes(frame[self.private_], self.private_values_)
        if (labels < 0).any():
            number = int((labels < 0).sum())
            raise ValueError(
                f"the private column {self.private_!r} must hold the values of the fit, {list(self.private_values_)}, "
                f"got another one, or none, in {number} of {len(frame)} records"
            )
        return labels


def _check_method(method: str, found: list[Column], values: tuple, n: int) -> None:
    if method not in ("affine", "neural"):
        return
    one = method == "affine"
    if (one and len(found) > 1) or not all(column.is_number for column in found):
        shown = [column.name for column in found if one or not column.is_number]
        raise ValueError(
            f"the method {method!r} takes {'one public column' if one else 'public columns'} of numbers, got {shown}; "
            "'transport' takes any"
        )
    if len(values) > 2:
        raise ValueError(
            f"the method {method!r} takes a private column of two values, got {len(values)}; 'transport' takes more"
        )
    if method == "neural" and n < FEWEST_FOR_NETWORKS:
        raise ValueError(
            f"the method 'neural' takes {FEWEST_FOR_NETWORKS} records or more, got {n}: its players learn fewer by "
            "heart; 'transport' takes any number"
        )


def _with_steps(found: list[Column], records: Records) -> list[Column]:
    """Return the columns with the grids of their releases."""
    steps = iter(step_of(values) for values in records.numbers.T)
    return [replace(column, step=next(steps)) if column.is_number else column for column in found]


def _unseen(records: Records, columns: list[Column]) -> np.ndarray:
    """Return which records have a gap or a category that no fitted record had, shape (n,)."""
    gaps = np.array([column.missing == 0 for column in columns if column.is_number], bool)
    return (np.isnan(records.numbers) & gaps).any(axis=1) | (records.codes < 0).any(axis=1)


def _beyond_steps(D: float, found: list[Column], method: str) -> float:
    """Return the budget that is left beside the rounding to a grid."""
    cost = dearer(found)
    if 0 < D <= cost:
        raise ValueError(
            f"the method {method!r} rounds what it releases, here to steps of {[column.step for column in found]}, and "
            f"needs a budget above {cost:.3g}, got {D:g}; 'transport' takes any"
        )
    return max(D - cost, 0.0)


def _seed(random_state: Any) -> int:
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return _checks.integer("random_state", random_state, 0)


def _uniform(seed: int, start: int, n: int, draws: int) -> np.ndarray:
    """Return uniform numbers for the records from number `start` on, shape (n, draws)."""
    blocks = []
    for block in range(start // _BLOCK, (start + n - 1) // _BLOCK + 1):
        numbers = _random.generator(seed, f"TablePrivatizer.transform {block}").random((_BLOCK, draws))
        blocks.append(numbers[max(start - block * _BLOCK, 0) : start + n - block * _BLOCK])
    return np.concatenate(blocks) if blocks else np.zeros((0, draws))


def _like(X: Any, released: pd.DataFrame) -> Any:
    """Return a data frame of pandas as one of the library that X came from."""
    if type(X).__module__.split(".")[0] == "polars":
        import polars  # here, because only its users have it

        return polars.from_pandas(released)
    import pyarrow  # here, for the same reason

    return pyarrow.Table.from_pandas(released, preserve_index=False)
