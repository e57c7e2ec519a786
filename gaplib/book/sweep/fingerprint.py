"""What of the code a run depends on: the cells of its notebook, and the modules of gaplib that they use.

Code is compared as Python reads it, so comments, docstrings and layout make no difference. A module counts if a cell
or a module that counts imports it, anywhere; if a text names it, such as the program that a cell starts; and with it
the data files of gaplib that it names.
"""

import ast
import functools
import hashlib
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

import gaplib

ROOT = Path(gaplib.__file__).parent
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED = re.compile(r"-m\s+(gaplib[\w.]*)")


@dataclass(frozen=True)
class _Code:
    """A piece of code: itself without comments and docstrings, the modules that it names, and its texts."""

    text: str
    modules: frozenset[str]
    texts: frozenset[str]


def of_cells(notebook: nbformat.NotebookNode) -> str:
    """Return a digest of the code cells of a notebook.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return hashlib.sha256("\0".join(code.text for code in _cells(notebook)).encode()).hexdigest()


def of_library(notebook: nbformat.NotebookNode, root: Path = ROOT) -> str:
    """Return a digest of the modules and data of gaplib that a notebook uses.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    root : Path
        The folder of the package.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    whole = hashlib.sha256()
    for path in files_used(notebook, root):
        content = _module(path, root).text.encode() if path.suffix == ".py" else path.read_bytes()
        whole.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def files_used(notebook: nbformat.NotebookNode, root: Path = ROOT) -> list[Path]:
    """Return the files of gaplib that a notebook uses, in the order of their names.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    root : Path
        The folder of the package.

    Returns
    -------
    list of Path
    """
    codes = _cells(notebook)
    found: set[Path] = set()
    waiting = [name for code in codes for name in code.modules]
    while waiting:
        for path in _files_of(waiting.pop(), root):
            if path not in found:
                found.add(path)
                codes.append(_module(path, root))
                waiting += codes[-1].modules
    named = {text.rpartition("/")[2] for code in codes for text in code.texts}
    data = {path for path in root.rglob("*.*") if path.name in named and path.suffix not in (".py", ".pyc")}
    return sorted(found | data)


def _files_of(module: str, root: Path) -> Iterator[Path]:
    """Yield the files that Python runs to import a module: its own and those of the packages that it lies in."""
    parts = module.split(".")[1:]
    for i in range(len(parts) + 1):
        folder = root.joinpath(*parts[:i])
        yield from (path for path in (folder / "__init__.py", folder.with_suffix(".py")) if path.is_file())


def _cells(notebook: nbformat.NotebookNode) -> list[_Code]:
    return [_cell(cell.source) for cell in notebook.cells if cell.cell_type == "code"]


@functools.lru_cache(maxsize=1024)
def _cell(source: str) -> _Code:
    """Read a cell, its magics as the calls that IPython makes of them; what is no Python counts as it is."""
    try:
        return _code(ast.parse(source))
    except (SyntaxError, ValueError):
        from IPython.core.inputtransformer2 import TransformerManager  # here, because few cells need it

    try:
        return _code(ast.parse(TransformerManager().transform_cell(source)))
    except (SyntaxError, ValueError):
        return _Code(source, frozenset(), frozenset())


def _module(path: Path, root: Path) -> _Code:
    status = path.stat()
    return _read_module(path, root, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1024)
def _read_module(path: Path, root: Path, changed: int, size: int) -> _Code:
    """Read a module, once for each time that it changed: a worker can live longer than the code on its disk."""
    package = ".".join(["gaplib", *path.parent.relative_to(root).parts])
    return _code(ast.parse(path.read_text(encoding="utf-8")), package)


def _code(tree: ast.Module, package: str = "") -> _Code:
    """Return what a piece of code is and names; `package` is where its relative imports begin."""
    _drop_docstrings(tree)
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    modules = {*_imported(tree.body, package), *_started(tree), *(name for text in texts for name in _named(text))}
    return _Code(ast.dump(tree), frozenset(modules), frozenset(texts))


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]


def _imported(body: Iterable[ast.AST], package: str) -> Iterator[str]:
    """Yield the names that statements import; those for a checker of types alone are never run."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "gaplib")
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: -(node.level - 1) or None] if node.level else []
            module = ".".join(filter(None, [*parts, node.module]))
            if module.split(".")[0] == "gaplib":
                yield module
                yield from (f"{module}.{alias.name}" for alias in node.names)  # a module, or something in one
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _imported(node.orelse, package)
        else:
            yield from _imported(ast.iter_child_nodes(node), package)


def _started(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a list of words such as [python, "-m", "gaplib", ...] starts."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)):
            words = [item.value if isinstance(item, ast.Constant) else None for item in node.elts]
            for flag, name in itertools.pairwise(words):
                if flag == "-m" and isinstance(name, str) and name.split(".")[0] == "gaplib":
                    yield from (name, f"{name}.__main__")


def _named(text: str) -> Iterator[str]:
    """Yield the modules that a text names, be it a program, a command or a dotted name."""
    if "gaplib" not in text:
        return
    yield from re.findall(r"\bgaplib(?:\.\w+)+", text)
    for name in _CALLED.findall(text):
        yield from (name, f"{name}.__main__")
    try:
        program = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return
    yield from _code(program).modules
