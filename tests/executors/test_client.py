"""A cluster by the address that users are told: `ray://head:10001`, through Ray's own client."""

import gc
import socket
import time

import pytest

from executors.pieces import Add, Deadly, Poisoned, WriteNumber, numbers, thousand
from goalward.executors.on_ray import RayExecutor
from ray_cluster import needs_ray_client, some_nodes

# Ray leaves the logs of its client's server to the collector, which is called below.
pytestmark = [
    pytest.mark.slow,
    needs_ray_client,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def is_answered(port: int) -> bool:
    with socket.socket() as ours:
        return ours.connect_ex(("127.0.0.1", port)) == 0


def test_pieces_are_done_failed_and_lost_as_beside_the_cluster(tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with some_nodes(1, ray_client_server_port=port):
        monkeypatch.delenv("RAY_ADDRESS")
        until = time.monotonic() + 60
        while not is_answered(port) and time.monotonic() < until:
            time.sleep(0.5)
        heard = {}
        pieces = [
            *(WriteNumber(n, tmp_path / f"{n}.txt") for n in range(3)),
            Poisoned(3),
            Deadly(4, tmp_path / "killed", times=1),
            Add(5),
        ]
        address = f"ray://127.0.0.1:{port}"
        with RayExecutor(thousand, 1, address=address, shared=[tmp_path]) as executor:
            results = executor.results(
                iter(pieces), lambda p, why: heard.update({p.number: str(why)})
            )
            found = numbers(results)
    assert found == {0: 0, 1: 1, 2: 2, 4: 1004, 5: 1005}
    assert heard[3].startswith("number 3: ValueError: cannot be added")
    written = {path.name: path.read_text() for path in tmp_path.glob("*.txt")}
    assert written == {f"{n}.txt": str(1000 + n) for n in range(3)}
    gc.collect()
