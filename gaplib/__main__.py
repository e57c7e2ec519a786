"""``python -m gaplib``: run notebooks with other parameters, see `gaplib.book.sweep`."""

import sys

from gaplib.book.sweep.command import main

if __name__ == "__main__":
    sys.exit(main())
