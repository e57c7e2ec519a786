"""Re-execute and normalize the committed notebooks: `python tools/notebooks.py [NOTEBOOK ...]`."""

import base64
import hashlib
import sys
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
ASSETS = ROOT / "book" / "assets"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def committed() -> list[Path]:
    """Return the book's notebooks in reading order."""
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def public_address() -> str:
    """Return the repository's address from `_config.yml`, empty while there is none."""
    return yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]


def execute(notebook: nbformat.NotebookNode, folder: Path = NOTEBOOKS) -> None:
    """Run every cell in place, in a fresh kernel that works in `folder`."""
    NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(folder)}}).execute()


def normalize(notebook: nbformat.NotebookNode) -> None:
    """Drop what changes from run to run, and note which sources the outputs belong to."""
    for cell in notebook.cells:
        for key in ("execution", "papermill", "collapsed", "scrolled"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
        "gap": {"sources": digest(notebook)},
    }


def merged(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join consecutive pieces of printed text: where one message ends and the next begins is a matter of timing."""
    joined = []
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
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(figure(cell))


def figure(cell: nbformat.NotebookNode) -> bytes:
    """Return the PNG that a cell shows."""
    return next(base64.b64decode(o["data"]["image/png"]) for o in cell.outputs if "image/png" in o.get("data", {}))


def main(paths: list[Path]) -> None:
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        set_colab_cell(notebook, public_address())
        execute(notebook)
        normalize(notebook)
        write_assets(notebook)
        # Only now, whole: a notebook that fails leaves the committed one as it was.
        nbformat.write(notebook, path)
        print(f"executed and normalized {path.name}")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]] or committed())
