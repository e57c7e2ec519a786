"""An extension of the kernels of runs: a text that UTF-8 cannot hold loses no message.

Half of a pair of UTF-16, as in ``raise ValueError("\\ud800")``, would otherwise cost the whole message.
"""

import json
from typing import Any

from jupyter_client.jsonutil import json_default


def load_ipython_extension(shell: Any) -> None:
    """Have the kernel write such a message in ASCII, as JSON can."""
    session = shell.kernel.session
    usual = session.pack

    def pack(message: object) -> bytes:
        try:
            return usual(message)
        except UnicodeEncodeError:
            return json.dumps(message, default=json_default).encode()

    session.pack = pack
