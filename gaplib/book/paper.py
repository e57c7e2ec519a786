"""What the paper prints and claims, as data."""

import csv
import re
from collections.abc import Callable, Collection, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

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

# What a statement rests on: its verdict if the evidence bears it out, and if it does not.
VERDICTS = {
    "theory": ("derived", "corrected"),
    "print": ("consistent as printed", "corrected"),
    "training": ("reproduced by training", "not reproduced"),
    "run": ("seen in our runs", "not reproduced"),
}
# Every verdict once, those that speak for the paper first.
SCORED = tuple(dict.fromkeys(pair[side] for side in (0, 1) for pair in VERDICTS.values()))
CITED, OPEN = "cited", "no verdict"

# How far our number less the printed one speaks against the statement.
_EXCESS: dict[str, Callable[[float], float]] = {"equals": abs, "at most": lambda d: d, "at least": lambda d: -d}
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
        One row a statement, all columns text; empty where a column does not apply. The verdicts are no part of the
        register: `judge` computes them, in the scorecard chapter.

        ``id``
            A short name that stays.
        ``part``, ``where``, ``kind``
            Where in the paper it stands, and what it is: a theorem, an equation, a sentence. Statements that the
            paper only cites are of the kind ``cited``; they have a ``reference`` and are not scored.
        ``statement``
            What the paper states, in our words.
        ``paper``
            The printed number, or several with "; " between them; "true" for a sentence. A statement about a row of
            Tables 2 to 5 takes its numbers from there; the file has their names, such as ``{p_detect}``.
        ``check``
            How it is checked, in words.
        ``basis``
            What that rests on, which decides how the verdict is called, see `VERDICTS`: ``theory``, a derivation or an
            exact computation; ``print``, a comparison of printed numbers with each other and with theory; ``training``,
            our trained mechanism beside a printed number; ``run``, our runs beside words, or beside a figure that is
            not at hand.
        ``notebook``, ``evidence``, ``relation``, ``tolerance``
            Which notebook has the evidence; which of its claims it is, or which of its recorded numbers, as many as
            are printed; whether the claim ``supports`` or ``refutes`` the statement, or how the numbers are to compare
            with the printed ones (``equals``, ``at most``, ``at least``); within which tolerance, one for all or one
            each: a number, a multiple of a recorded number such as ``3 name[key]``, or half a unit of the last printed
            digit if empty.
        ``note``
            What is right instead, if the statement does not hold; "Read ...", where it depends on the reading.
        ``erratum``
            The entry of the errata page that treats it.

    Examples
    --------
    >>> statements = register()
    >>> statements[statements["kind"] == "theorem"][["where", "statement"]]  # doctest: +SKIP
    """
    import pandas as pd  # here, because it takes longer to import than all of the theory

    printed = {(row["table"], row["D"]): row for row in _read("printed_tables.csv")}
    return pd.DataFrame([_filled(row, printed) for row in _read("register.csv")])


def judge(statement: Mapping[str, str], recorded: Mapping[str, Any], asserted: Collection[str]) -> tuple[str, str]:
    """Return the verdict on a statement of the register, and what the book has in place of the printed number.

    Parameters
    ----------
    statement : mapping
        A row of the register: column to text.
    recorded : mapping
        What its notebook recorded, name to value.
    asserted : collection of str
        The claims that its notebook asserted.

    Returns
    -------
    verdict : str
        One of `SCORED`; ``cited`` for what the paper only cites; ``no verdict`` if the notebook neither asserts nor
        records the evidence.
    ours : str
        "true" or "false" for a sentence, the recorded numbers otherwise; empty without a verdict.

    Raises
    ------
    ValueError
        If `statement` has a basis or a relation that there is not, or not as many numbers as the paper prints.
    """
    if statement["kind"] == "cited":
        return CITED, ""
    basis, relation, evidence = (statement[column] for column in ("basis", "relation", "evidence"))
    if basis not in VERDICTS:
        raise ValueError(f"statement must have one of the bases {', '.join(VERDICTS)}, got {basis!r}")
    if relation in ("supports", "refutes"):
        if evidence not in asserted:
            return OPEN, ""
        holds, ours = relation == "supports", "true" if relation == "supports" else "false"
    elif relation in _EXCESS:
        try:
            holds, ours = _compare(statement, recorded)
        except (LookupError, TypeError):  # a name, a key or a place that the notebook did not record
            return OPEN, ""
    else:
        relations = ", ".join(["supports", "refutes", *_EXCESS])
        raise ValueError(f"statement must have one of the relations {relations}, got {relation!r}")
    return VERDICTS[basis][not holds], ours


def headline(counts: Mapping[str, int]) -> str:
    """Return in one sentence how many statements of the paper got which verdict.

    Parameters
    ----------
    counts : mapping
        Verdict to number, for each of `SCORED`.

    Returns
    -------
    str
        The sentence, each verdict counted apart.
    """
    parts = [f"{counts[verdict]} {'is' if counts[verdict] == 1 else 'are'} {verdict}" for verdict in SCORED]
    total = sum(counts[verdict] for verdict in SCORED)
    return f"Of {total} statements of the paper that can be checked, {', '.join(parts[:-1])} and {parts[-1]}."


def _compare(statement: Mapping[str, str], recorded: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether all recorded numbers are within their tolerances of the printed ones, and the recorded ones."""
    printed, names, allowed = (statement[column].split("; ") for column in ("paper", "evidence", "tolerance"))
    if len(allowed) == 1:
        allowed *= len(printed)
    if not len(printed) == len(names) == len(allowed):
        raise ValueError(
            f"statement must have evidence and a tolerance for each of {len(printed)} printed numbers, got "
            f"{statement['evidence']!r} and {statement['tolerance']!r}"
        )
    excess, numbers = _EXCESS[statement["relation"]], [_recorded(recorded, name) for name in names]
    holds = all(
        excess(number - float(digits)) <= _tolerance(text, digits, recorded)
        for number, digits, text in zip(numbers, printed, allowed, strict=True)
    )
    return holds, "; ".join(f"{number:.6g}" for number in numbers)


def _filled(statement: dict, printed: dict) -> dict:
    """Return a row of the register; where it is about a row of Tables 2 to 5, with the numbers printed there."""
    about = re.match(r"Table ([2-5]), D=(\d)", statement["where"])
    if about is None:
        return statement
    return {column: text.format_map(printed[about.groups()]) for column, text in statement.items()}


def _recorded(recorded: Mapping[str, Any], evidence: str) -> float:
    """Return the recorded number that the evidence names, such as name[key][0]."""
    value: Any = recorded
    for key in re.findall(r"[^\[\]]+", evidence):
        value = value[int(key) if isinstance(value, list) and key.isdecimal() else key]
    return float(value)


def _tolerance(text: str, printed: str, recorded: Mapping[str, Any]) -> float:
    """Return how far a number may be from a printed one."""
    if not text:
        return 0.5 * 10.0 ** -len(printed.partition(".")[2]) * (1 + 1e-9)
    factor, _, name = text.partition(" ")
    return float(factor) * (_recorded(recorded, name) if name else 1)


def _read(name: str) -> list[dict]:
    text = resources.files("gaplib.book").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(key: str, text: str) -> int | float:
    return int(text) if key in _INTEGERS else float(text)
