"""The way to a Ray cluster: of an address, of RAY_ADDRESS, or one of this machine alone."""

import contextlib
import logging
import os
import signal
import socket
import textwrap
import threading
from collections.abc import Generator
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any

from goalward.errors import GoalwardError, argument

_ANSWERS_WITHIN_S = 5.0
_MOST_LETTERS = 300
_CLIENT_PORT = "10001"
# How HTTP/2 begins (RFC 9113, 3.4), which gRPC goes by: a fixed text, then a frame of settings.
_SETTINGS = b"\x04"
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS + b"\0\0\0\0\0"
_AUTH_MODE = "RAY_AUTH_MODE"
_kept: ContextVar[contextlib.ExitStack | None] = ContextVar("_kept", default=None)


def imported_ray() -> Any:
    # Said before Ray is imported: without GPUs to hand out it leaves the variables alone, and it
    # tells its makers nothing.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # pyright: ignore[reportMissingImports] (an extra)
        import ray.cloudpickle  # pyright: ignore[reportMissingImports]
        import ray.exceptions  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise _needs_ray() from error
    return ray


def check_ray() -> None:
    """Say at once that Ray is missing; to import it takes a second."""
    if find_spec("ray") is None:
        raise _needs_ray()


def _needs_ray() -> GoalwardError:
    return GoalwardError(f"{argument('on', 'ray')} needs Ray: pip install 'goalward[ray]'")


@contextlib.contextmanager
def connected(ray: Any, address: str | None) -> Generator[None]:
    """Inside, Ray is there: the cluster of an address, that of RAY_ADDRESS, or one of our own."""
    if ray.is_initialized():
        yield
        return
    given = address or os.environ.get("RAY_ADDRESS") or None
    if given not in (None, "local", "auto"):
        _check_somebody_answers(given)
    with contextlib.ExitStack() as own:
        stays = _kept.get() or own
        # A cluster that Ray starts here has it ask everybody for a token, ever after.
        stays.enter_context(_as_before(_AUTH_MODE))
        try:
            with _same_answer_to_stops():
                ray.init(
                    # Not a cluster that somebody left running here, which Ray would look for.
                    address=given or "local",
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **({} if given not in (None, "local") else {"include_dashboard": False}),
                )
        except Exception as error:  # Ray has many kinds, builtin ones among them
            raise GoalwardError(_cannot_be_used(given, error)) from error
        stays.callback(ray.shutdown)
        yield


@contextlib.contextmanager
def one_cluster() -> Generator[None]:
    """Inside, a cluster that some work was done on stays, for the work after it."""
    with contextlib.ExitStack() as stack:
        token = _kept.set(stack)
        try:
            yield
        finally:
            _kept.reset(token)


def _cannot_be_used(given: str | None, error: Exception) -> str:
    text = f"Ray at {given or 'this machine'} cannot be used: {in_one_line(error)}"
    if given is not None and os.environ.get(_AUTH_MODE) != "token":
        # Ray itself does not say whether that was why.
        text += (
            f"; if the cluster asks for a token, set {_AUTH_MODE}=token and put the same "
            "~/.ray/auth_token on every machine"
        )
    return text


@contextlib.contextmanager
def _as_before(variable: str) -> Generator[None]:
    before = os.environ.get(variable)
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before


@contextlib.contextmanager
def _same_answer_to_stops() -> Generator[None]:
    """A cluster that Ray starts here would answer SIGTERM by exit(1), in the middle of anything."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _check_somebody_answers(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise GoalwardError(
            f"{address}: not an address of a Ray cluster, which is written host:port or "
            "ray://host:port"
        )
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN_S) as there:
            is_ray = _speaks_grpc(there)
    except (OSError, OverflowError) as error:
        raise GoalwardError(
            f"nobody answers at the Ray address {address} ({error}): is the cluster up?"
        ) from error
    if not is_ray:
        raise GoalwardError(
            f"whoever answers at {address} is no Ray cluster: is it the right port? A cluster has "
            "6379 (host:6379), its client 10001 (ray://host:10001)"
        )
    if port == _CLIENT_PORT and not address.startswith("ray://"):
        raise GoalwardError(
            f"{address}: the port of Ray's client, which is written ray://{address}"
        )


def _speaks_grpc(there: socket.socket) -> bool:
    """Whether it begins as every server of HTTP/2 does; with TLS that cannot be seen."""
    if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
        return True
    there.settimeout(_ANSWERS_WITHIN_S)
    try:
        there.sendall(_GREETING)
        answer = b""
        while len(answer) < 4 and (more := there.recv(64)):
            answer += more
    except OSError:
        return False
    return answer[3:4] == _SETTINGS


def in_one_line(error: Exception) -> str:
    """What Ray says over many lines, so far as one can read it.

    >>> in_one_line(RuntimeError("Version mismatch:\\n    Ray: 2.50.0\\n"))
    'Version mismatch: Ray: 2.50.0'
    """
    text = " ".join(str(error).split())
    return textwrap.shorten(text, _MOST_LETTERS, placeholder=" ...") or type(error).__name__
