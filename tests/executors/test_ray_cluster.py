"""How long a cluster stays, and what is left as it was: with a stand-in for Ray."""

import os
import signal
import socket
import threading
from contextlib import contextmanager

import pytest

from goalward.errors import GoalwardError
from goalward.executors import ray_cluster
from goalward.executors.ray_cluster import connected, one_cluster


class Stand:
    """Knows whether it is on, and what was asked of it."""

    def __init__(self, problem: str = "") -> None:
        self.is_on = False
        self.asked: list[str] = []
        self.problem = problem

    def is_initialized(self) -> bool:
        return self.is_on

    def init(self, **options: object) -> None:
        self.asked.append(f"init {options['address']}")
        # What Ray does where it starts a cluster of its own.
        if options["address"] == "local":
            os.environ["RAY_AUTH_MODE"] = "token"
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.problem:
            raise ConnectionError(self.problem)
        self.is_on = True

    def shutdown(self) -> None:
        self.asked.append("shutdown")
        self.is_on = False


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)


def test_each_work_has_a_cluster_of_its_own_unless_they_are_told_to_share():
    ray = Stand()
    for _ in range(2):
        with connected(ray, None):
            assert ray.is_on
        assert "RAY_AUTH_MODE" not in os.environ
    assert ray.asked == ["init local", "shutdown"] * 2
    ray = Stand()
    with one_cluster():
        for _ in range(3):
            with connected(ray, None):
                assert ray.is_on
        assert ray.is_on
    assert ray.asked == ["init local", "shutdown"]
    assert "RAY_AUTH_MODE" not in os.environ
    # Nothing of it stays for later.
    with connected(ray, None):
        pass
    assert ray.asked[2:] == ["init local", "shutdown"]


def test_an_error_in_between_ends_the_cluster():
    ray = Stand()
    with pytest.raises(KeyError), one_cluster():
        with connected(ray, None):
            raise KeyError
    assert ray.asked == ["init local", "shutdown"]


def test_a_cluster_that_somebody_else_began_is_left_to_them():
    ray = Stand()
    ray.is_on = True
    with one_cluster(), connected(ray, None):
        pass
    assert ray.asked == []


def test_a_cluster_that_cannot_be_had_is_one_sentence_and_leaves_nothing(monkeypatch):
    ray, before = Stand("Version mismatch:\n   Ray: 2.50.0"), signal.getsignal(signal.SIGTERM)
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with pytest.raises(GoalwardError) as failed, connected(ray, None):
        pass
    assert str(failed.value).startswith(
        "Ray at auto cannot be used: Version mismatch: Ray: 2.50.0; if the cluster asks for a token"
    )
    assert "RAY_AUTH_MODE" not in os.environ
    assert signal.getsignal(signal.SIGTERM) is before


@contextmanager
def somebody(answer: bytes, port: int = 0):
    """Answers whoever comes, at the port that it gives."""
    with socket.create_server(("127.0.0.1", port)) as server:

        def serve() -> None:
            try:
                while True:
                    with server.accept()[0] as guest:
                        guest.recv(100)
                        guest.sendall(answer)
                        guest.recv(100)
            except OSError:
                pass

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
@pytest.mark.parametrize("protocol", ["", "ray://"])
def test_somebody_else_at_the_address_is_told_from_a_cluster(monkeypatch, answer, protocol):
    """Ray would try again and again, for many minutes."""
    monkeypatch.setattr(ray_cluster, "_ANSWERS_WITHIN_S", 0.5)
    ray = Stand()
    with somebody(answer) as port, pytest.raises(GoalwardError, match="is no Ray cluster"):
        with connected(ray, f"{protocol}127.0.0.1:{port}"):
            pass
    assert ray.asked == []


def test_whoever_speaks_as_a_cluster_is_asked():
    ray = Stand()
    with somebody(b"\0\0\0\4\0\0\0\0\0") as port, connected(ray, f"127.0.0.1:{port}"):
        pass
    assert ray.asked == [f"init 127.0.0.1:{port}", "shutdown"]


def test_the_port_of_the_client_has_another_address(monkeypatch):
    with somebody(b"\0\0\0\4\0\0\0\0\0") as port:
        monkeypatch.setattr(ray_cluster, "_CLIENT_PORT", str(port))
        with pytest.raises(GoalwardError, match=f"which is written ray://127.0.0.1:{port}$"):
            with connected(Stand(), f"127.0.0.1:{port}"):
                pass
