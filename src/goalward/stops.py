"""Being asked to stop: Ctrl-C, and the SIGTERM of schedulers, at moments when nothing is lost."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


class Stopped(KeyboardInterrupt):
    """The system asks this process to end (SIGTERM): as Ctrl-C, with another exit status."""


def listen_for_stops() -> None:
    """From now on SIGTERM ends this process as Ctrl-C does: what was begun is saved or removed.

    For programs, not for libraries: who imports goalward has a say of its own.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    signal.signal(signal.SIGTERM, stop)


@contextmanager
def stops_held_back() -> Generator[Callable[[], None]]:
    """Inside, a request to stop waits for the next call of the function that is given.

    A second request does not wait. SIGTERM is held back only where it would not end the process
    at once anyway; outside the main thread there is nothing to hold back.
    """
    asked: list[KeyboardInterrupt] = []

    def look() -> None:
        if asked:
            raise asked.pop()

    def note(number: int, frame: FrameType | None) -> None:
        is_term = number == signal.SIGTERM
        found = Stopped() if is_term else KeyboardInterrupt()
        if asked:
            raise found
        asked.append(found)

    if threading.current_thread() is not threading.main_thread():
        yield look
        return
    ours = [n for n in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(n))]
    before = {number: signal.signal(number, note) for number in ours}
    try:
        yield look
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    look()
