"""What the paper prints and claims, as data."""

import csv
from importlib import resources
from typing import TYPE_CHECKING

from gaplib import _checks
from gaplib.models import GaussianMixture

if TYPE_CHECKING:
    import pandas as pd

# Table 1 of the paper.
DATASETS = {
    1: GaussianMixture(prior=0.5, mu=3, var0=1, var1=1),
    2: GaussianMixture(prior=0.5, mu=3, var0=4, var1=1),
    3: GaussianMixture(prior=0.75, mu=3, var0=1, var1=1),
    4: GaussianMixture(prior=0.75, mu=3, var0=4, var1=1),
}

_INTEGERS = ("table", "dataset", "D")


def table(n: int) -> list[dict]:
    """Return one of the paper's Tables 2 to 5: what it learned from data on the Gaussian mixture.

    Parameters
    ----------
    n : int from 2 to 5
        Tables 2, 3, 4 and 5 belong to the datasets 1, 3, 2 and 4 of the paper's Table 1.

    Returns
    -------
    list of dict
        One for each budget, in the order of the table. ``dataset``, ``prior`` = P(Y=1), ``var0``, ``var1`` and the
        budget ``D`` say what was solved (the means are -3 and 3); ``beta0, beta1, gamma0, gamma1`` is the learned
        mechanism; ``acc`` and ``xent`` (nats) are the accuracy and the cross-entropy of the learned adversary,
        ``distance`` the mean squared distortion, on the test sample; ``p_detect`` is the MAP accuracy against the
        mechanism, ``p_detect_theory`` what the paper's grid search found as the least.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer from 2 to 5.
    """
    n = _checks.integer("n", n, 2, 5)
    rows = ({key: _number(key, value) for key, value in row.items()} for row in _read("printed_tables.csv"))
    return [row for row in rows if row["table"] == n]


def register() -> "pd.DataFrame":
    """Return the register of the paper's checkable statements.

    Returns
    -------
    pandas.DataFrame
        One row a statement, all columns text; empty where a column does not apply. The verdicts are computed by the
        scorecard chapter, and are no part of the register.

        ``id``
            A short name that stays.
        ``part``, ``where``, ``kind``
            Where in the paper it stands, and what it is: a theorem, an equation, a sentence. Statements that the
            paper only cites are of the kind ``cited``; they have a ``reference`` and are not scored.
        ``statement``
            What the paper states, in our words.
        ``check``, ``notebook``, ``evidence``, ``relation``, ``tolerance``, ``otherwise``
            How it is checked, by which notebook, with which of its claims or recorded numbers; whether that supports
            or refutes the statement, or how the number is to compare with the printed one (``equals``, ``at most``,
            ``at least``), within which tolerance (half a unit of the last printed digit if empty), and what the
            verdict is if it does not.
        ``paper``
            The printed number.
        ``note``
            Of a statement that does not hold as it stands: what is right instead.
        ``erratum``
            The entry of the errata page that treats it.

    Examples
    --------
    >>> statements = register()
    >>> statements[statements["kind"] == "theorem"][["where", "statement"]]  # doctest: +SKIP
    """
    import pandas as pd  # here, because it takes longer to import than all of the theory

    return pd.DataFrame(_read("register.csv"))


def _read(name: str) -> list[dict]:
    text = resources.files("gaplib.book").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(key: str, text: str) -> int | float:
    return int(text) if key in _INTEGERS else float(text)
