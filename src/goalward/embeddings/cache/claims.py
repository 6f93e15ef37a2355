"""Two processes that embed the same data set share the work: each claims a clip before it starts.

A claim is a lock that the system drops when its holder ends, however it ends. Where there are no
such locks (Windows, some network disks) clips may be embedded twice, never wrongly.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None


@dataclass(frozen=True)
class WorkClaim:
    """The right to work on something, until `drop`; None as `handle` where nobody else can see."""

    path: Path
    handle: int | None

    def drop(self) -> None:
        if self.handle is not None:
            # Gone before it is unlocked: whoever waits for it finds the work finished.
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
            os.close(self.handle)


def claim(path: Path) -> WorkClaim | None:
    """A claim, or None while somebody else holds it."""
    if fcntl is None:
        return WorkClaim(path, None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return WorkClaim(path, None)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        os.close(handle)
        return WorkClaim(path, None)
    return WorkClaim(path, handle)
