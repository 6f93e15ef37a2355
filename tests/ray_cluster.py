"""A Ray cluster of some nodes on this machine, with one worker each."""

import os
import signal
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

import pytest

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None and not os.environ.get("GOALWARD_REQUIRE_RAY"),
    reason="needs Ray (extra ray)",
)

# What `ray://` goes through.
needs_ray_client = pytest.mark.skipif(
    (find_spec("ray") is None or find_spec("grpc") is None)
    and not os.environ.get("GOALWARD_REQUIRE_RAY"),
    reason="needs the client of Ray (extra ray)",
)

_STARTS = 3


@contextmanager
def some_nodes(count: int, **of_head: Any) -> Generator[Any]:
    """Inside, RAY_ADDRESS is that of the cluster, as for users."""
    before = {name: os.environ.get(name) for name in ("RAY_ADDRESS", "RAY_USAGE_STATS_ENABLED")}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # The first node of a cluster in a process takes its signals; other tests want theirs.
    handler = signal.getsignal(signal.SIGTERM)
    cluster = _started(count, of_head)
    try:
        os.environ["RAY_ADDRESS"] = cluster.address
        yield cluster
    finally:
        cluster.shutdown()
        signal.signal(signal.SIGTERM, handler)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _started(count: int, of_head: dict[str, Any]) -> Any:
    """Ray gives a node half a minute to start, which is short where other tests are at work."""
    from ray.cluster_utils import Cluster

    for left in reversed(range(_STARTS)):
        cluster = Cluster()
        try:
            cluster.add_node(num_cpus=1, include_dashboard=False, **of_head)
            for _ in range(count - 1):
                cluster.add_node(num_cpus=1)
            return cluster
        except Exception:
            cluster.shutdown()
            if not left:
                raise
    raise AssertionError


def lose_a_node(cluster: Any) -> None:
    """A machine that is not the head goes down, with all that runs on it."""
    node = next(iter(cluster.worker_nodes))
    cluster.remove_node(node, allow_graceful=False)


def two_nodes() -> AbstractContextManager[Any]:
    return some_nodes(2)
