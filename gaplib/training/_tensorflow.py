"""TensorFlow as the training engine needs it: quiet, and with the same bits from run to run.

The order in which threads add numbers changes the last bits of a sum, and a game amplifies them. So all of training
runs on one thread, pinned here before the first operation. It is no loss: the arrays of a study are small, and two
studies use two cores as two processes.
"""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its kernels change the last bits

THREADS = 1


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Drop what compiled code writes to stderr; exceptions pass."""
    with open(os.devnull, "w") as nowhere:
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextlib.contextmanager
def _without_keras() -> Iterator[None]:
    """Have TensorFlow not load Keras, and with it Matplotlib and scikit-learn, until somebody uses it.

    It loads the optimizers so that saved models can name them, and does without where Keras is missing.
    """
    name = "keras.src.optimizers"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # an import of this module fails
    try:
        yield
    finally:
        del sys.modules[name]


with _silent(), _without_keras():  # it looks for a GPU before any setting of the log level counts
    import tensorflow as tf

# It advises against what training does on purpose: a program for each number of games.
tf.get_logger().setLevel("ERROR")
try:
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
except RuntimeError:  # TensorFlow has run an operation already
    warnings.warn(
        "TensorFlow was in use before gaplib.training was imported, with its own number of threads: results can "
        "differ in the last digits from run to run. Import gaplib.training first.",
        RuntimeWarning,
        stacklevel=2,
    )

_owner: int | None = None  # the process whose threads TensorFlow has started


def claim() -> None:
    """Refuse to go on in a process that was forked from one that has used TensorFlow.

    A fork copies no threads, and TensorFlow would wait for its own for ever.

    Raises
    ------
    RuntimeError
        If this is such a process.
    """
    global _owner
    if _owner is None:
        _owner = os.getpid()
    elif _owner != os.getpid():
        raise RuntimeError(
            "TensorFlow cannot work in a process that was forked after it had been used: start processes with "
            "multiprocessing.get_context('spawn') or 'forkserver'"
        )


def single(value: object) -> tf.Tensor:
    """Return a tensor in single precision."""
    with np.errstate(over="ignore"):  # what is too large for single precision becomes infinite: that game diverges
        return tf.constant(np.asarray(value, np.float32))


__all__ = ["THREADS", "claim", "single", "tf"]
