"""What a worker of this machine does first: leave Ctrl-C and messages to the command that it works for.

A terminal sends Ctrl-C to all its processes. A worker that heeded it would be replaced while the command ends.
"""

import logging
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(
    signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM}
)  # `cluster` starts workers with them blocked
logging.getLogger("distributed").setLevel(logging.CRITICAL)
