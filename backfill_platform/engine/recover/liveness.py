"""Whether a worker is known to be gone, so that nobody has to wait for its lease.

Only of a process on this machine can that be known; of all others the lease decides.
"""

import os
import socket


def is_gone(worker: str) -> bool:
    """`worker` is a host's name and a process id, as `open_platform` writes them."""
    host, _, process_id = worker.rpartition(":")
    if host != socket.gethostname() or not process_id.isdecimal() or int(process_id) == 0:
        return False
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's, and so alive
        return False
    return False
