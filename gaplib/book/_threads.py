"""One thread for the linear algebra under NumPy, if this is imported before NumPy.

Threads add numbers in an order of their own, which changes last bits; a run must not depend on how many cores a
machine has, or on how many runs share them. Only `gaplib.book.notebook` imports this: a library should not set its
user's threads.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"
