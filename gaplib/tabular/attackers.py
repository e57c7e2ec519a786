"""Adversaries that share nothing with the mechanism: scikit-learn's classifiers, which learn from released pairs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gaplib.tabular.columns import Column, Records

ATTACKERS = ("logistic regression", "gradient boosting", "nearest neighbours", "network")
_CHECKED = 1 / 3  # of what an attacker learns from, kept to see whether it has learned anything


def beliefs(
    name: str,
    columns: Sequence[Column],
    learned: Records,
    labels: np.ndarray,
    attacked: Records,
    values: int,
    seed: int,
) -> np.ndarray:
    """Return the probability of each private value for each attacked record, shape (n, values).

    An attacker who finds that it guesses a part of its own records no better than by the most frequent value says the
    frequencies: otherwise one that learns noise by heart would look less dangerous than one that knows nothing.
    """
    n = len(labels)
    prior = np.bincount(labels, minlength=values) / n
    silent = np.tile(prior, (len(attacked), 1))
    order = np.random.default_rng(seed).permutation(n)
    kept, rest = order[: int(n * _CHECKED)], order[int(n * _CHECKED) :]
    if len(kept) == 0 or len(np.unique(labels[rest])) < 2:
        return silent
    tried = _fit(name, columns, learned.take(rest), labels[rest], seed, values)(learned.take(kept))
    by_prior = (labels[kept] == np.bincount(labels[rest], minlength=values).argmax()).mean()
    if (tried.argmax(axis=1) == labels[kept]).mean() <= by_prior:
        return silent
    return _fit(name, columns, learned, labels, seed, values)(attacked)


def _fit(name: str, columns: Sequence[Column], records: Records, labels: np.ndarray, seed: int, values: int) -> Any:
    """Return the function that gives a trained attacker's beliefs."""
    model = make_pipeline(_features(columns), _classifier(name, len(labels), seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what it has learned until then is measured
        warnings.filterwarnings("ignore", "The least populated class")
        warnings.filterwarnings("ignore", "Skipping features without any observed values")
        model.fit(_table(records), labels)

    def predict(attacked: Records) -> np.ndarray:
        found = np.zeros((len(attacked), values))
        found[:, model.classes_] = model.predict_proba(_table(attacked))
        return found

    return predict


def _features(columns: Sequence[Column]) -> Any:
    p = sum(column.is_number for column in columns)
    numbers = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    classes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((numbers, list(range(p))), (classes, list(range(p, len(columns)))))


def _table(records: Records) -> np.ndarray:
    return np.column_stack([records.numbers, records.codes])


def _classifier(name: str, n: int, seed: int) -> Any:
    if name == "logistic regression":
        return LogisticRegression(max_iter=500)
    if name == "gradient boosting":
        return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, random_state=seed)
    if name == "nearest neighbours":
        return KNeighborsClassifier(n_neighbors=max(1, min(n, math.isqrt(n))))
    return MLPClassifier((32,), max_iter=120, learning_rate_init=0.01, alpha=1e-3, random_state=seed)
