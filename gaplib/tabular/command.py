"""What ``python -m gaplib release`` and ``audit`` do."""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from gaplib._files import check_free, whole_file
from gaplib._terminal import printable, tell, warn
from gaplib.tabular.auditing import Audit, audit
from gaplib.tabular.columns import one_makes_the_variance, records, unlike_fitted
from gaplib.tabular.mapping import trade_off
from gaplib.tabular.neural import Neural
from gaplib.tabular.order import RowOrder
from gaplib.tabular.plans import Plan
from gaplib.tabular.privatizer import TablePrivatizer
from gaplib.tabular.saved import load, save
from gaplib.tabular.tables import Table, format_of, writer

# Of longer tables the mechanism is learned from so many records, drawn at random.
MOST_FITTED = 200_000
# Besides the budget, the map of a report shows these multiples of it.
_MULTIPLES = (0.25, 0.5, 2.0, 4.0)
_SETTINGS = ("kind", "method", "scale")  # of a mechanism, with the defaults of `TablePrivatizer`

PROMISE = """\
Promised: whoever sees released columns and knows the distribution guesses {private!r} as rarely as the budget
allows, on average. Not promised: a single record in the worst case, a second release, another secret, another
distribution. It is not differential privacy. The rows keep their order, which must not tell {private!r} either."""


def release(options: argparse.Namespace) -> int:
    """Fit a mechanism or load one, and write the release."""
    return _told(_release, options)


def attack(options: argparse.Namespace) -> int:
    """Audit a release."""
    return _told(_audit, options)


def _told(do: Callable[[argparse.Namespace], None], options: argparse.Namespace) -> int:
    try:
        do(options)
    except (ValueError, TypeError, OSError, ImportError) as error:
        warn(f"error: {printable(_words(error))}")
        return 2
    return 0


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error)


def _release(options: argparse.Namespace) -> None:
    outputs = [options.out, options.report, options.save]
    for path in outputs:
        if path is not None:
            check_free(path, options.force)
    named = [os.path.realpath(path) for path in (options.table, options.mechanism, *outputs) if path is not None]
    if len(set(named)) < len(named):
        raise ValueError("the table, the mechanism and what is written must be different files")
    table, format = Table(options.table), format_of(options.out)
    privatizer, sample, order = _learned(options, table)
    tell(PROMISE.format(private=privatizer.private_))
    _warn_of_gaps(privatizer)
    with contextlib.ExitStack() as stack:
        report = None
        if options.report is not None:  # before the release: what fails, fails with nothing written
            report = stack.enter_context(whole_file(options.report, options.force))
            _write_report(report, sample, privatizer, order.warning())
        count = _write(options, table, privatizer, format, order)
    if options.save is not None:
        check_free(options.save, options.force)  # it may have come to exist meanwhile
        save(privatizer, options.save)
        tell(f"{options.save}: the mechanism. {_secret(privatizer)}")
    tell(f"{options.out}: {count} records, {len(privatizer.columns_)} columns; the private column is not in it.")
    if order.warning():
        warn(printable(f"warning: {order.warning()}"))


def _secret(privatizer: TablePrivatizer) -> str:
    """Return what a kept mechanism tells about the table."""
    if isinstance(privatizer.mechanism_, Plan):
        return "It is as secret as the table: it holds means of few records."
    if isinstance(privatizer.mechanism_, Neural):
        return "It is as secret as the table: its network may have learned records by heart."
    return "It holds no record, but of each column its mean, deviation and range, or all of its categories."


def _warn_of_gaps(privatizer: TablePrivatizer) -> None:
    if isinstance(privatizer.mechanism_, Plan):
        return
    for column in privatizer.columns_:
        if column.missing:
            share = f"{column.missing:.1%}" if column.missing >= 0.0005 else "less than 0.1%"
            warn(
                printable(
                    f"warning: {share} of the records lack a number in the column {column.name!r}, and "
                    f"{privatizer.method!r} leaves them without: the release shows which they are"
                )
            )


def _learned(options: argparse.Namespace, table: Table) -> tuple[TablePrivatizer, pd.DataFrame, RowOrder]:
    """Return the privatizer, the sample that it was fitted to, and the order of all rows.

    The last two are empty if it is loaded.
    """
    if options.mechanism is not None:
        own = ("private", "public", "budget", "save", *_SETTINGS)
        given = [name for name in own if getattr(options, name) is not None]
        if given:
            raise ValueError(f"--mechanism brings its own settings: --{given[0]} cannot be given with it")
        if options.report is not None:  # it fits mechanisms of its own
            raise ValueError("--report describes a new mechanism, and cannot be given with --mechanism: use `audit`")
        privatizer = load(options.mechanism)
        if options.seed is not None:
            privatizer.seed_ = _seed(options)
        _check_columns(privatizer, table)
        table.read_as_text(_held_text(privatizer))
        return privatizer, pd.DataFrame(), RowOrder(privatizer.private_)
    if options.private is None or options.budget is None:
        raise ValueError("--private and --budget are needed, or --mechanism")
    public = _names(options.public) if options.public else [n for n in table.names if n != options.private]
    if len(set(public)) < len(public):
        raise ValueError(f"--public must name each column once, got {options.public}")
    missing = [name for name in (options.private, *public) if name not in table.names]
    if missing:
        shown = ", ".join(repr(name) for name in table.names[:10])
        hint = ""
        if len(table.names) == 1:
            hint = "; is it separated by something else than commas?"
        elif options.public and any("," in name for name in table.names):
            hint = "; for --public, a name with a comma stands in double quotation marks"
        raise ValueError(f"{table.path} has no column {missing[0]!r}, but {shown}{hint}")
    seed = _seed(options)
    settings = {name: getattr(options, name) for name in _SETTINGS if getattr(options, name) is not None}
    privatizer = TablePrivatizer(options.private, options.budget, public=public, random_state=seed, **settings)
    order = RowOrder(options.private)
    names = [options.private, *(name for name in public if name != options.private)]
    sample, _ = _sample(table, names, seed, lambda part: order.add(part[options.private]))
    privatizer.fit(sample)
    for column in privatizer.columns_:
        if privatizer.scale == "std" and column.is_number and one_makes_the_variance(sample[column.name]):
            warn(
                printable(
                    f"warning: one record makes more than half of the variance of the column {column.name!r}: changes "
                    "of the others count for little, and may be large; is its value right?"
                )
            )
    return privatizer, sample, order


def _held_text(privatizer: TablePrivatizer) -> list[Any]:
    """Return the names of the columns of the fit, the private one among them, that held text."""
    levels = {column.name: column.levels or () for column in privatizer.columns_}
    levels[privatizer.private_] = privatizer.private_values_
    return [name for name, values in levels.items() if any(isinstance(value, str) for value in values)]


def _names(text: str) -> list[str]:
    """Return names with commas between them, as a record of CSV: one that has a comma is in quotation marks."""
    try:
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise ValueError(
            f"--public must be names with commas between them, in quotation marks if need be, got {text}"
        ) from None
    return names


def _check_columns(privatizer: TablePrivatizer, table: Table) -> None:
    missing = [name for name in privatizer.needed_names() if name not in table.names]
    if not missing:
        return
    why = ", and it uses the private column" if missing[0] == privatizer.private_ else ""
    raise ValueError(f"{table.path} must have the columns of the mechanism{why}, got none of the name {missing[0]!r}")


def _seed(options: argparse.Namespace) -> int:
    """Return the seed that was given, or one that nobody knows: who knows it can undo noise."""
    if options.seed is None:
        return secrets.randbits(63)
    if options.seed < 0:
        raise ValueError(f"--seed must be an integer >= 0, got {options.seed}")
    return options.seed


def _sample(
    table: Table, names: list[str], seed: int, watch: Callable[[pd.DataFrame], None] = lambda part: None
) -> tuple[pd.DataFrame, int]:
    """Return the records or, of more than `MOST_FITTED`, so many at random, in one pass; and how many there are."""
    random = np.random.default_rng([seed, zlib.crc32(b"sample")])
    count, kept = 0, list[pd.DataFrame]()
    keys: list[np.ndarray] = []
    with _progress(table, "reading") as done:
        for part in table.parts(names, done):
            watch(part)
            count += len(part)
            kept.append(part)
            keys.append(random.random(len(part)))
            if sum(len(key) for key in keys) > 2 * MOST_FITTED:
                kept, keys = _smallest(kept, keys)
    if not kept:
        raise ValueError(f"{table.path} has no records")
    kept, keys = _smallest(kept, keys)
    return kept[0], count


def _smallest(parts: list[pd.DataFrame], keys: list[np.ndarray]) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    frame, key = pd.concat(parts, ignore_index=True), np.concatenate(keys)
    if len(key) > MOST_FITTED:
        rows = np.sort(np.argpartition(key, MOST_FITTED)[:MOST_FITTED])
        frame, key = frame.iloc[rows].reset_index(drop=True), key[rows]
    return [frame], [key]


def _write(options: argparse.Namespace, table: Table, privatizer: TablePrivatizer, format: str, order: RowOrder) -> int:
    names, count = privatizer.needed_names(), 0
    strange, far = (dict.fromkeys((column.name for column in privatizer.columns_), 0) for _ in range(2))
    with whole_file(options.out, options.force) as file, writer(file, format, table.schema) as write:
        with _progress(table, "releasing") as done:
            parts = _watched(table.parts(names, done), privatizer, strange, far)
            if options.mechanism is not None and privatizer.private_ in names:  # otherwise the fit has seen the order
                parts = _ordered(parts, order)
            for released in _released(options, privatizer, parts):
                write(released)
                count += len(released)
        if count == 0:
            raise ValueError(f"{table.path} has no records")
    for name, number in strange.items():
        if number:
            warn(
                printable(
                    f"warning: in {number} of {count} records the column {name!r} holds a value, or lacks one, unlike "
                    "all that the mechanism was fitted to: nothing is promised for these records"
                )
            )
    for name, number in far.items():
        if number:
            warn(
                printable(
                    f"warning: in {number} of {count} records the column {name!r} is so far from nearly all others "
                    "that to move it would spend the whole budget: these records are released as they are"
                )
            )
    return count


def _watched(
    parts: Iterator[pd.DataFrame], privatizer: TablePrivatizer, strange: dict[Any, int], far: dict[Any, int]
) -> Iterator[pd.DataFrame]:
    """Yield the parts, and count by column the values of a kind that was not fitted, and those that are far away."""
    mechanism, numbers = privatizer.mechanism_, [column for column in privatizer.columns_ if column.is_number]
    for part in parts:
        for column in privatizer.columns_:
            strange[column.name] += unlike_fitted(part[column.name], column)
        if isinstance(mechanism, Plan):
            values = records(part, numbers).numbers
            outside = (values < mechanism.bounds[0]) | (values > mechanism.bounds[1])
            for column, count in zip(numbers, outside.sum(axis=0).tolist(), strict=True):
                far[column.name] += count
        yield part


def _ordered(parts: Iterator[pd.DataFrame], order: RowOrder) -> Iterator[pd.DataFrame]:
    """Yield the parts, and see whether their order tells the private value."""
    for part in parts:
        order.add(part[order.name])
        yield part


def _released(
    options: argparse.Namespace, privatizer: TablePrivatizer, parts: Iterator[pd.DataFrame]
) -> Iterator[pd.DataFrame]:
    """Yield the release of each part in their order, computed here or on a Dask cluster."""
    if options.scheduler is None:
        start = 0
        for part in parts:
            yield privatizer.release_part(part, start)
            start += len(part)
        return
    try:
        from gaplib.jobs import cluster, work  # here, because Dask takes a second to import
    except ImportError:
        raise ImportError("--scheduler needs Dask: install gaplib with its extra book") from None
    waiting: dict[int, pd.DataFrame] = {}
    following = 0
    with cluster.connected(options.scheduler) as client:
        for (number, _, _, _), result in work.results(client, _one, _numbered(privatizer, parts)):
            if isinstance(result, work.Lost):
                raise ValueError(f"a worker has failed: {type(result.error).__name__}: {result.error}")
            waiting[number] = result
            while following in waiting:
                yield waiting.pop(following)
                following += 1


def _numbered(privatizer: TablePrivatizer, parts: Iterator[pd.DataFrame]) -> Iterator[tuple]:
    start = 0
    for number, part in enumerate(parts):
        yield (number, privatizer, part, start)
        start += len(part)


def _one(item: tuple[int, TablePrivatizer, pd.DataFrame, int]) -> pd.DataFrame:
    _, privatizer, part, start = item
    return privatizer.release_part(part, start)


@contextlib.contextmanager
def _progress(table: Table, doing: str) -> Iterator[Callable[[int], Any]]:
    """Yield what a progress bar is told: how many bytes of the table are done."""
    with tqdm(
        total=table.path.stat().st_size, desc=doing, unit="B", unit_scale=True, disable=None, file=sys.stderr
    ) as bar:
        yield bar.update


def _write_report(file: Any, sample: pd.DataFrame, privatizer: TablePrivatizer, order: str) -> None:
    """Audit mechanisms that are fitted to one half of the sample, as this one was to all of it, on the other half.

    `order` is what the order of all rows tells.
    """
    from gaplib.tabular import report  # here, because it is not always needed

    if privatizer.private_ not in sample.columns:
        raise ValueError(
            f"a report needs the private column {privatizer.private_!r}: nothing else says what was guessed"
        )
    like = TablePrivatizer(
        privatizer.private_, privatizer.budget, public=[column.name for column in privatizer.columns_],
        kind=privatizer.kind, method=privatizer.method, scale=privatizer.scale,
    )  # fmt: skip
    tell("auditing: mechanisms are fitted to one half of the records and attacked on the other")
    try:
        ((_, own),) = trade_off(sample, like, [privatizer.budget])
    except ValueError as error:
        raise ValueError(f"for --report a mechanism is fitted to half of the records, and refused: {error}") from None
    own = replace(own, order=order)
    others, left_out = [], []
    for budget in [multiple * privatizer.budget for multiple in _MULTIPLES if privatizer.budget > 0]:
        try:
            others += trade_off(sample, like, [budget])
        except ValueError as error:  # "affine" cannot spend less than its rounding costs, for instance
            left_out.append((f"the budget {budget:g}", str(error)))
    file.write(report.page(own, others, left_out).encode())
    _summary(own)


def _audit(options: argparse.Namespace) -> None:
    if options.report is not None:
        check_free(options.report, options.force)
    original, released = Table(options.table), Table(options.released)
    if options.private not in original.names:
        raise ValueError(f"{original.path} has no column {options.private!r}, but {original.names[:10]}")
    if options.private in released.names:
        raise ValueError(f"{released.path} holds the private column {options.private!r}: whoever has it need not guess")
    strange = [name for name in released.names if name not in original.names]
    if strange:
        raise ValueError(f"{released.path} must have columns of {original.path}, got {strange[:5]}")
    before, after, order = _aligned(
        original, released, options.private, _seed(options) if options.seed is not None else 0
    )
    found = audit(before, after, options.private, 0 if options.seed is None else options.seed)
    found = replace(found, order=order.warning())
    if options.report is not None:
        found.to_html(options.report, force=options.force)
    _summary(found)
    if found.order:
        warn(printable(f"warning: {found.order}"))


def _aligned(original: Table, released: Table, private: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, RowOrder]:
    """Return the same records of both tables, drawn by their numbers if there are many, and the order of all rows."""
    order = RowOrder(private)
    before, count = _sample(original, [private, *released.names], seed, lambda part: order.add(part[private]))
    released.read_as_text(field.name for field in original.schema if pa.types.is_string(field.type))
    after, others = _sample(released, released.names, seed)
    if count != others:
        raise ValueError(
            f"the tables must have the same records, got {count} in {original.path} and {others} in {released.path}"
        )
    return before, after, order


def _summary(found: Audit) -> None:
    tell(f"guessed without any column: {_percent(*found.baseline)}")
    for name, row in found.attacks.iterrows():
        shown = [_percent(*(row[f"{part}{end}"] for end in ("", "_low", "_high"))) for part in ("attack", "control")]
        tell(f"{name}: {shown[0]} from the release, {shown[1]} from the original")
    if found.gaps:
        tell(f"values are missing for the same records as before, which the release shows, in: {_shown(found.gaps)}")


def _shown(names: list) -> str:
    return printable(", ".join(str(name) for name in names))


def _percent(value: float, low: float, high: float) -> str:
    return "not computed" if np.isnan(value) else f"{value:.1%} ({low:.1%} to {high:.1%})"
