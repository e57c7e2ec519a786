"""Re-execute and normalize notebooks; without names, all that are committed.

python tools/notebooks.py [NOTEBOOK ...]            executes them, and renews figures, status page and results too
python tools/notebooks.py --no-run [NOTEBOOK ...]   only normalizes, and refuses outputs of other code; before a commit
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import platform
import re
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import nbformat
import outputs
import results
import yaml
from nbclient import NotebookClient

from gaplib.book import chapters

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))

import addresses  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
ASSETS = ROOT / "book" / "assets"
STATUS = ROOT / "book" / "data" / "status.csv"
VERSIONS = ("numpy", "scipy", "tensorflow", "gaplib")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def committed() -> list[Path]:
    """Return the book's notebooks in reading order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def public_address() -> str:
    """Return the repository's address from `_config.yml`, empty while there is none. Raises `ValueError` for others."""
    return addresses.repository(yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"])


def execute(notebook: nbformat.NotebookNode, folder: Path = NOTEBOOKS) -> None:
    """Run every cell in place, in a fresh kernel that works in `folder`, and is told that the chapters lie there."""
    client = NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(folder)}})
    client.execute(env=os.environ | {chapters.FOLDER: str(folder)})


def normalize(notebook: nbformat.NotebookNode) -> None:
    """Drop what changes from run to run, and note which sources the outputs belong to."""
    for cell in notebook.cells:
        for key in ("execution", "papermill", "collapsed", "scrolled"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
            fold(cell)
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
        "gap": {"sources": digest(notebook)},
    }


def fold(cell: nbformat.NotebookNode) -> None:
    """Fold in JupyterLab what the tags fold on the site; claims are folded behind their number."""
    tags = cell.metadata.get("tags", [])
    everything = "hide-cell" in tags
    hidden = {
        "source_hidden": everything or "hide-input" in tags,
        "outputs_hidden": everything or "hide-output" in tags,
    }
    kept = {key: value for key, value in cell.metadata.get("jupyter", {}).items() if key not in hidden}
    if folded := kept | {key: True for key, value in hidden.items() if value}:
        cell.metadata["jupyter"] = folded
    else:
        cell.metadata.pop("jupyter", None)
    printed = "".join(output.get("text", "") for output in cell.outputs).splitlines()
    if everything and (claims := sum(line.startswith(chapters.HOLDS) for line in printed)):
        cell.metadata.setdefault("mystnb", {})["code_prompt_show"] = f"{claims} checks hold"


def merged(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join consecutive pieces of printed text: where one message ends and the next begins is a matter of timing."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        if output.get("name") == "stderr":
            raise ValueError(f"a cell writes to stderr; mend it rather than hide it:\n{output.text}")
        if output.output_type == "stream" and joined and joined[-1].output_type == "stream":
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def digest(notebook: nbformat.NotebookNode) -> str:
    """Return a hash of the code: outputs whose recorded hash differs are stale."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()


def stale(notebook: nbformat.NotebookNode) -> str | None:
    """Return why the outputs are not those of the code, if a run alone can mend it."""
    if notebook.metadata.get("gap", {}).get("sources") != digest(notebook):
        return "its code was edited, and not run by this tool since"
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)):
        return "its cells were not run from top to bottom"
    return None


def tidy(path: Path) -> str | None:
    """Normalize a notebook without running it; return why it cannot be committed, or None."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    if reason := stale(notebook):
        return f"{reason}; run: .venv/bin/python tools/notebooks.py {path}"
    try:
        normalize(notebook)
    except ValueError as error:
        return str(error)
    if nbformat.writes(notebook).rstrip("\n") != text.rstrip("\n"):
        write(notebook, path)
        print(f"normalized {path.name}")
    return None


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook whole, or leave the file as it was. Raises `FileExistsError` if it is a symbolic link."""
    outputs.replace_file(path, (nbformat.writes(notebook).rstrip("\n") + "\n").encode())


def set_colab_cell(notebook: nbformat.NotebookNode, address: str) -> None:
    """Begin the notebook with the cell that installs `gaplib` on Colab, if there is an address to install from."""
    notebook.cells = [cell for cell in notebook.cells if "colab" not in cell.metadata.get("tags", [])]
    if not address:
        return
    source = (
        "# Only where gaplib is missing, as on Colab.\n"
        "import importlib.util\n\n"
        'if importlib.util.find_spec("gaplib") is None:\n'
        f"    %pip install -q git+{address}"
    )
    cell = nbformat.v4.new_code_cell(source, id="colab", metadata={"tags": ["colab", "remove-cell"]})
    notebook.cells.insert(0, cell)


def write_assets(notebook: nbformat.NotebookNode, folder: Path = ASSETS) -> None:
    """Write each figure whose cell names a file (metadata `gap.asset`), for the README and the front page."""
    for cell in notebook.cells:
        name = cell.metadata.get("gap", {}).get("asset")
        if name:
            if not re.fullmatch(r"\w+\.png", name):
                raise ValueError(f"gap.asset must be the name of a PNG file without a folder, got {name!r}")
            outputs.replace_file(folder / name, figure(cell))


def figure(cell: nbformat.NotebookNode) -> bytes:
    """Return the PNG that a cell shows."""
    return next(base64.b64decode(o["data"]["image/png"]) for o in cell.outputs if "image/png" in o.get("data", {}))


def status_of(path: Path, seconds: float) -> dict:
    """Return the line of the status page for a notebook that has just run."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in VERSIONS}
    return {
        "notebook": path.stem,
        "run on": datetime.now(UTC).date().isoformat(),
        "seconds": round(seconds),
        "claims that hold": len(chapters.claims(path)),
        "with": ", ".join(map(" ".join, versions.items())),
    }


def write_status(lines: list[dict], file: Path = STATUS) -> None:
    """Put the lines into the status file in place of older ones of the same notebooks."""
    old = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines())) if file.exists() else []
    by_name = {line["notebook"]: line for line in [*old, *lines]}
    present = [by_name[path.stem] for path in committed() if path.stem in by_name]
    out = io.StringIO()
    writer = csv.DictWriter(out, present[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(present)
    outputs.replace_file(file, out.getvalue().encode())


def run(paths: list[Path]) -> None:
    """Execute the notebooks, normalize them, and write what follows from them."""
    status = []
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        set_colab_cell(notebook, public_address())
        begin = time.monotonic()
        execute(notebook)
        seconds = time.monotonic() - begin
        normalize(notebook)
        # Only now: a notebook that fails leaves the committed one as it was.
        write(notebook, path)
        print(f"executed and normalized {path.name}")
        if path.resolve().parent == NOTEBOOKS:
            write_assets(notebook)
            status.append(status_of(path, seconds))
    if status:
        write_status(status)
        results.export()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-run", action="store_true", help="normalize only; fail if a notebook must be run")
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    args = parser.parse_args()
    paths = args.notebooks or committed()
    try:
        for path in paths:
            outputs.refuse_link(path)
        if not args.no_run:
            return run(paths)
        problems = [f"{path}: {problem}" for path in paths if (problem := tidy(path))]
    except OSError as error:
        sys.exit(str(error))
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
