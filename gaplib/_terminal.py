"""What commands print: no control characters of others reach a terminal, and a reader that has gone stops nothing."""

import contextlib
import os
import sys


def tell(text: object) -> None:
    """Print a line of the result; nothing if nobody reads any more, as in ``python -m gaplib ... | head``."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(str(text).encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        # The interpreter flushes it once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: object) -> None:
    """Print a line to where messages go; nothing if nobody reads any more."""
    with contextlib.suppress(BrokenPipeError):
        print(text, file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Return a text of somebody else on one line, with control characters as Python writes them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
