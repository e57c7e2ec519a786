"""``python -m gaplib``: run notebooks with other parameters, see `gaplib.sweep`."""

import sys

from gaplib.sweep.command import main

if __name__ == "__main__":
    sys.exit(main())
