"""The chapters of the book, as files: where they lie, what they recorded, what they claimed."""

import json
import os
from pathlib import Path

# As MyST-NB's `glue` and scrapbook store a value: in the outputs, under a type that no page displays.
RECORDED = "application/papermill.record/"
HOLDS = "holds: "
# The environment variable that tells where the chapters lie; whatever runs them sets it.
FOLDER = "GAPLIB_CHAPTERS"


def find(notebook: str | Path) -> Path:
    """Return the path of a notebook.

    Parameters
    ----------
    notebook : str or Path
        A path, or the name of a chapter, such as ``"03_binary_pdd"``. Chapters lie in the folder that the environment
        variable ``GAPLIB_CHAPTERS`` names; without it, in the working directory or in its folder ``notebooks``.

    Returns
    -------
    Path

    Raises
    ------
    TypeError
        If `notebook` is neither a text nor a path.
    FileNotFoundError
        If there is no such notebook; the message says where it was looked for.
    """
    if not isinstance(notebook, (str, Path)):
        raise TypeError(f"notebook must be a text or a path, got {notebook!r} of type {type(notebook).__name__}")
    path = Path(notebook)
    if path.suffix == ".ipynb" and path.is_file():
        return path
    folders = [Path(os.environ[FOLDER])] if os.environ.get(FOLDER) else [Path(), Path("notebooks")]
    if str(path) == path.name:
        for folder in folders:
            chapter = folder / f"{path.name.removesuffix('.ipynb')}.ipynb"
            if chapter.is_file():
                return chapter
    looked_in = " and ".join(str(folder.resolve()) for folder in folders)
    raise FileNotFoundError(
        f"notebook must be the path of a notebook or the name of a chapter, got {str(notebook)!r}; chapters are looked "
        f"for in {looked_in}; {FOLDER} names another folder"
    )


def results(notebook: str | Path) -> dict:
    """Return what an executed notebook recorded.

    Parameters
    ----------
    notebook : str or Path
        As for `find`.

    Returns
    -------
    dict
        Name to value.

    Raises
    ------
    TypeError
        If `notebook` is neither a text nor a path.
    FileNotFoundError
        If there is no such notebook.
    """
    return recorded(json.loads(find(notebook).read_text(encoding="utf-8")))


def recorded(content: dict) -> dict:
    """Return what an executed notebook recorded, given what its file holds.

    Parameters
    ----------
    content : dict
        The notebook as JSON has it, or as nbformat reads it.

    Returns
    -------
    dict
        Name to value.
    """
    return {
        output["metadata"]["scrapbook"]["name"]: json.loads(output["data"][RECORDED + "application/json"])
        for output in _outputs(content)
        if "scrapbook" in output.get("metadata", {})
    }


def claims(notebook: str | Path) -> list[str]:
    """Return the statements that an executed notebook asserted, in its order.

    Parameters
    ----------
    notebook : str or Path
        As for `find`.

    Returns
    -------
    list of str
        The statements of its calls of `notebook.claim`.

    Raises
    ------
    TypeError
        If `notebook` is neither a text nor a path.
    FileNotFoundError
        If there is no such notebook.
    """
    content = json.loads(find(notebook).read_text(encoding="utf-8"))
    printed = ["".join(output["text"]) for output in _outputs(content) if output.get("name") == "stdout"]
    lines = "\n".join(printed).splitlines()
    return [line.removeprefix(HOLDS) for line in lines if line.startswith(HOLDS)]


def _outputs(content: dict) -> list[dict]:
    return [output for cell in content["cells"] for output in cell.get("outputs", [])]
