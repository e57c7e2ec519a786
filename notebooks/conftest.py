"""Where the notebooks find each other under nbval, and how it compares those that train."""

import os
from pathlib import Path

os.environ["GAPLIB_CHAPTERS"] = str(Path(__file__).resolve().parent)


def pytest_collection_modifyitems(items):
    """Compare only the cells tagged ``nbval-check-output``, as ``--nbval-lax`` does.

    Another processor changes the last bits of a product, and a game amplifies them. Theory stays compared in full.
    """
    cells = [item for item in items if hasattr(item, "cell")]  # nbval's items
    trained = {item.path for item in cells if "gaplib.training" in item.cell.source}
    for item in cells:
        if (
            item.path in trained
            and "nbval-check-output" not in item.cell.metadata.get("tags", [])
        ):
            item.options["check"] = False
