"""Find the notebook in what a student handed in, whatever its name and encoding."""

from pathlib import Path

import nbformat

from marking import COURSE
from marking.cells import Order, Part, in_order

_EXCHANGE = ("timestamp.txt", "submission_secret.txt")  # nbgrader's own
_KINDS = ("code", "markdown", "raw")


class NotMarkableError(Exception):
    """Why there is nothing to mark."""


def submitted(assignment: str) -> dict[str, Path]:
    """The folders that were handed in, by student."""
    return {
        folder.parent.name: folder for folder in sorted(COURSE.glob(f"submitted/*/{assignment}")) if folder.is_dir()
    }


def contents(folder: Path) -> dict[Path, bytes]:
    """The files below a folder, without what is hidden; a link is not followed."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def prepared(files: dict[Path, bytes], assignment: str, parts: list[Part]) -> dict[Path, bytes]:
    """Return the files as nbgrader wants them, with the notebook under its name and in UTF-8.

    If there are several notebooks, the one with most answers counts, and of those the one with the right name.

    Raises
    ------
    NotMarkableError
        If no file is a notebook with answers to this assignment.
    """
    name = Path(f"{assignment}.ipynb")
    read, reasons = {}, []
    for path, data in files.items():
        if path.name not in _EXCHANGE:
            try:
                read[path] = _notebook(data)
            except ValueError as error:
                reasons += [f"{path}: {error}"] if path.suffix == ".ipynb" else []
    orders = {path: in_order(notebook.cells, parts) for path, notebook in read.items()}
    if not orders:
        raise NotMarkableError("; ".join(reasons) or "there is no notebook")

    def worth(path: Path) -> tuple:
        order: Order = orders[path]
        return order.answered, order.found, path == name, str(path)

    best = max(orders, key=worth)
    if not orders[best].found:
        raise NotMarkableError(f"{best}: no cell belongs to this assignment")
    notebook = read[best]
    notebook.metadata = nbformat.from_dict(
        {"marking": {"remarks": [] if best == name else [f"the notebook was called {best}"]}}
    )
    others = {path: data for path, data in files.items() if path not in read and path.suffix != ".ipynb"}
    return others | {name: nbformat.writes(notebook).encode()}


def _notebook(data: bytes) -> nbformat.NotebookNode:
    """A notebook with nothing but its cells; ValueError if the bytes are none."""
    if not data.strip():
        raise ValueError("the file is empty")
    try:
        found = nbformat.reader.reads(_text(data).strip("\0"))
        cells = nbformat.convert(found, 4).cells
    except Exception as error:
        raise ValueError("the file is not a notebook, or was cut off") from error
    notebook = nbformat.v4.new_notebook()
    for at, cell in enumerate(cells):
        new = nbformat.v4.new_code_cell() if cell.get("cell_type") == "code" else nbformat.v4.new_markdown_cell()
        new.id = f"cell-{at}"  # the same each time, so that an unchanged hand-in is known
        new.cell_type = cell.get("cell_type") if cell.get("cell_type") in _KINDS else "markdown"
        source = cell.get("source", "")
        new.source = source if isinstance(source, str) else "".join(map(str, source))
        marks = cell.get("metadata", {}).get("nbgrader")
        if isinstance(marks, dict) and isinstance(marks.get("grade_id"), str):
            new.metadata.nbgrader = {"grade_id": marks["grade_id"]}
        if isinstance(cell.get("attachments"), dict) and new.cell_type == "markdown":
            new.attachments = cell.attachments
        notebook.cells.append(new)
    return notebook


def _text(data: bytes) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding)
    for encoding in ("utf-8", "utf-16-le" if b"\0" in data[1:2] else "utf-16-be" if b"\0" in data[:1] else "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    return data.decode("latin-1")
