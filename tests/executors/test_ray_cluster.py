"""How long a cluster stays, and what is left as it was: with a stand-in for Ray."""

import os
import signal

import pytest

from goalward.errors import GoalwardError
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
