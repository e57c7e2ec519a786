"""Programs of the training, compiled once for all processes that one command starts."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

_FOLDER = "--tf_xla_persistent_cache_directory"


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Have TensorFlow, in all processes that begin in the block, look for programs where others have left theirs.

    The bits are the same. The folder is new and goes with the block: a file that was written by half, on a full disk
    say, would end every later training.
    """
    before = os.environ.get("TF_XLA_FLAGS", "")
    if _FOLDER in before:  # by whoever started this process, or by its user
        yield
        return
    with tempfile.TemporaryDirectory(prefix="gap-compiled-", ignore_cleanup_errors=True) as folder:
        os.environ["TF_XLA_FLAGS"] = f"{before} {_FOLDER}={folder} --tf_xla_persistent_cache_device_types=CPU".strip()
        try:
            yield
        finally:
            os.environ["TF_XLA_FLAGS"] = before
            if not before:
                del os.environ["TF_XLA_FLAGS"]
