"""The numbers that the paper prints, as data."""

import csv
from importlib import resources

from gaplib import _checks

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
    text = resources.files("gaplib").joinpath("data", "tables_2_to_5.csv").read_text(encoding="utf-8")
    rows = ({key: _number(key, value) for key, value in row.items()} for row in csv.DictReader(text.splitlines()))
    return [row for row in rows if row["table"] == n]


def _number(key: str, text: str) -> int | float:
    return int(text) if key in _INTEGERS else float(text)
