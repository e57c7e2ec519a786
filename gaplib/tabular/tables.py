"""CSV and Parquet, read and written in parts, so that a table of any length passes in constant memory."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

PART = 1 << 16  # records that are held at once
_BLOCK = 1 << 22  # bytes of CSV that are read at once, the longest that a record may be


_INDEX = re.compile(r"__index_level_\d+__")  # the row numbers of pandas, which are no column of the table


class Table:
    """A table in a file, with its columns but not its records in memory.

    Parameters
    ----------
    path : str or path-like
        The file; its name ends in ``.csv`` or ``.parquet``.

    Raises
    ------
    ValueError
        If the file is no such table.
    OSError
        If it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.format = format_of(self.path)
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no file {str(self.path)!r}")
        if self.format == "csv" and self._holds_nulls():  # Arrow would say that its records are too short
            raise ValueError(f"{self.path}: it is not encoded in UTF-8")
        with _in_words(self.path):
            self.schema = self._schema()
        names = self.schema.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{self.path} must have a name of its own for each column, got {twice[:5]} more than once")
        self.names: list[str] = names
        if self.format == "csv" and len(names) == 1:
            with _in_words(self.path):
                self._refuse_empty_lines()

    def read_as_text(self, names: Iterable[str]) -> None:
        """Take columns of CSV as text, though here they may hold digits only.

        Parameters
        ----------
        names : iterable of str
            Those that are no columns do not count.
        """
        if self.format == "csv":
            text = set(names)
            fields = [pa.field(f.name, pa.string()) if f.name in text else f for f in self.schema]
            self.schema = pa.schema(fields)

    def parts(self, names: list[str], done: Callable[[int], Any] = lambda size: None) -> Iterator[pd.DataFrame]:
        """Yield the records in parts, with some of the columns.

        Parameters
        ----------
        names : list of str
        done : callable
            Called with the number of bytes that a part took in the file.

        Yields
        ------
        pandas.DataFrame

        Raises
        ------
        ValueError
            If a record does not fit the columns.
        """
        with _in_words(self.path):
            batches = self._csv(names) if self.format == "csv" else self._parquet(names)
            size, before = self.path.stat().st_size, 0
            for batch, share in batches:
                if batch.num_rows:
                    yield batch.to_pandas(ignore_metadata=True)  # an index of pandas is a column here
                done(int(share * size) - before)
                before = int(share * size)
            done(size - before)

    def _holds_nulls(self) -> bool:
        """Return whether the file begins like UTF-16, or like no text at all."""
        with open(self.path, "rb") as file:
            return b"\0" in file.read(4096)

    def _schema(self) -> pa.Schema:
        if self.format == "parquet":
            schema = pa.parquet.read_schema(self.path)
            return pa.schema([field for field in schema if not _INDEX.fullmatch(field.name)])
        with pa.csv.open_csv(self.path, **_options(_convert_options())) as reader:
            found = reader.schema
        if any(pa.types.is_binary(field.type) for field in found):
            raise pa.ArrowInvalid("invalid UTF-8")
        # Whole numbers at the top of a file may be followed by others, and missing values by either.
        types = {pa.null(): pa.string(), pa.int64(): pa.float64()}
        codes = self._codes([field.name for field in found if pa.types.is_integer(field.type)])
        return pa.schema(
            [(field.name, pa.string() if field.name in codes else types.get(field.type, field.type)) for field in found]
        )

    def _codes(self, names: list[str]) -> set[str]:
        """Return which columns of digits are codes: zeros at the front, as in a postcode, would be lost in numbers."""
        if not names:
            return set()
        convert = _convert_options(pa.schema([(name, pa.string()) for name in names]), names)
        with pa.csv.open_csv(self.path, **_options(convert)) as reader:
            top = reader.read_next_batch()
        return {name for name in names if pc.any(pc.match_substring_regex(top[name], "^0[0-9]")).as_py()}

    def _refuse_empty_lines(self) -> None:
        """Refuse a table of one column in which an empty line may be a record: most readers skip it, and so do we."""
        convert = _convert_options(pa.schema([("line", pa.string())]), ["line"])
        convert.quoted_strings_can_be_null, convert.null_values = False, [""]  # then only an empty line is null
        options = _options(convert, ignore_empty_lines=False)
        options["read_options"].column_names = ["line"]
        empty = False
        with pa.csv.open_csv(self.path, **options) as reader:
            for batch in reader:
                filled = np.flatnonzero(batch.column(0).is_valid())
                empty |= len(filled) > 0 and batch.column(0)[: filled[-1]].null_count > 0
                if empty and len(filled):
                    raise ValueError(
                        f'{self.path} has one column and empty lines: if a value is missing there, write it as "", '
                        "and if nothing is, take the lines out"
                    )
                empty |= len(filled) < len(batch)

    def _csv(self, names: list[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
        size = max(self.path.stat().st_size, 1)
        with open(self.path, "rb") as file:
            convert = _convert_options(self.schema, names)
            with pa.csv.open_csv(file, **_options(convert)) as reader:
                for batch in reader:
                    yield batch, file.tell() / size

    def _parquet(self, names: list[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
        with pa.parquet.ParquetFile(self.path) as file:
            rows, seen = max(file.metadata.num_rows, 1), 0
            for batch in file.iter_batches(batch_size=PART, columns=names):
                seen += batch.num_rows
                yield batch, seen / rows


@contextlib.contextmanager
def writer(file: BinaryIO, format: str, schema: pa.Schema) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Yield a function that appends records to an open file.

    Parameters
    ----------
    file : file
        Open for writing bytes.
    format : {"csv", "parquet"}
    schema : pyarrow.Schema
        The types of columns that lack all values in the first data frame.

    Yields
    ------
    callable
        Called with a data frame; all have the columns and types of the first.
    """
    with contextlib.ExitStack() as stack:
        made: list[Any] = []

        def write(frame: pd.DataFrame) -> None:
            table = pa.Table.from_pandas(frame, schema=made[0].schema if made else None, preserve_index=False)
            if not made:
                # A column may lack values here and have them later, or hold categories that are listed later.
                table = table.cast(pa.schema([(field.name, _lasting(field, schema)) for field in table.schema]))
                make = pa.csv.CSVWriter if format == "csv" else pa.parquet.ParquetWriter
                made.append(_Open(stack.enter_context(make(file, table.schema)), table.schema))
            if format == "csv" and table.num_columns == 1 and table.column(0).null_count:
                file.write(_lines(table.column(0)))
            else:
                made[0].writer.write_table(table)

        yield write


def _lines(column: pa.ChunkedArray) -> bytes:
    """Return a column as lines of CSV, a missing value as two quotation marks: most readers skip an empty line."""
    values = column.cast(pa.large_string()).to_pylist()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = [value if value is None else '"' + value.replace('"', '""') + '"' for value in values]
    return "".join('""\n' if value is None else f"{value}\n" for value in values).encode()


class _Open:
    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self.writer, self.schema = writer, schema


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a table by the name of its file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    "csv" or "parquet"

    Raises
    ------
    ValueError
        If the name ends in neither.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"{str(path)!r} must end in .csv or .parquet")
    return suffix[1:]


def _lasting(field: pa.Field, schema: pa.Schema) -> pa.DataType:
    kind = schema.field(field.name).type if pa.types.is_null(field.type) else field.type
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.string() if pa.types.is_null(kind) else kind


def _options(convert: pa.csv.ConvertOptions, ignore_empty_lines: bool = True) -> dict[str, Any]:
    return {
        "read_options": pa.csv.ReadOptions(block_size=_BLOCK, use_threads=False),
        # Lines end inside quotation marks, too.
        "parse_options": pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=ignore_empty_lines),
        "convert_options": convert,
    }


def _convert_options(schema: pa.Schema | None = None, names: list[str] | None = None) -> pa.csv.ConvertOptions:
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    if schema is not None and names is not None:
        options.column_types = schema
        options.include_columns = names
    return options


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Say what Arrow says, without the record that it shows."""
    try:
        yield
    except pa.ArrowException as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        for pattern, words in _WORDS:
            found = re.search(pattern, text)
            if found:
                raise ValueError(f"{path}: {found.expand(words)}") from None
        raise ValueError(f"{path} cannot be read as a table ({type(error).__name__})") from None


_WORDS = (
    (r"Empty CSV file", "it is empty"),
    (
        r"Expected 1 columns, got (\d+)",
        r"a record has \1 values for 1 column; is the table separated by something else than commas?",
    ),
    (r"Row #(\d+): Expected (\d+) columns, got (\d+)", r"record \1 has \3 values for \2 columns"),
    (r"Expected (\d+) columns, got (\d+)", r"a record has \2 values for \1 columns"),
    (r"CSV conversion error to (\w+)", r"a column begins with values of type \1, and holds others further down"),
    (r"invalid UTF-?8", "it is not encoded in UTF-8"),
    (r"straddling object|too small", "a record is longer than 4 MB, or a quotation mark is never closed"),
)
