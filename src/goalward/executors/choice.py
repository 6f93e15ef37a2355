"""Who does the pieces, by what a user says: `local`, `ray`, or the address of a cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from goalward.errors import GoalwardError, argument
from goalward.executors.local import LocalExecutor, num_cores
from goalward.executors.ray_cluster import check_ray

if TYPE_CHECKING:
    from goalward.executors.on_ray import RayExecutor

Station = TypeVar("Station")
LOCAL, RAY = "local", "ray"
_RAY_ADDRESS = "ray://"


def is_local(on: str) -> bool:
    """Whether the work stays in processes of this machine.

    A word nobody knows is an error, and so is Ray where it is not installed, before any work.
    """
    if on != LOCAL and on != RAY and not on.startswith(_RAY_ADDRESS):
        raise GoalwardError(
            f"{argument('on', on)}: say {LOCAL}, {RAY} (the cluster of RAY_ADDRESS, or one on this "
            f"machine), or the address of a cluster ({_RAY_ADDRESS}host:10001)"
        )
    if on != LOCAL:
        check_ray()
    return on == LOCAL


@dataclass(frozen=True)
class Workers:
    """Who does what one process does alone by default, and how many of them there are.

    >>> Workers("local", 4)
    Traceback (most recent call last):
    ...
    goalward.errors.GoalwardError: num_workers=4: this process works with all cores; ...
    """

    on: str = LOCAL
    num_workers: int | None = None

    def __post_init__(self) -> None:
        if self.is_here and self.num_workers is not None:
            raise GoalwardError(
                f"{argument('num_workers', self.num_workers, flag='workers')}: this process works "
                f"with all cores; workers are those of {argument('on', RAY)}"
            )

    @property
    def is_here(self) -> bool:
        return is_local(self.on)


HERE = Workers()


def executor_on(
    on: str,
    build: Callable[[], Station],
    num_workers: int | None = None,
    *,
    most_workers: int | None = None,
    shared: Sequence[Path] = (),
    read_from: Sequence[Path] = (),
    num_gpus: float | None = 0,
) -> "LocalExecutor[Station] | RayExecutor[Station]":
    """The executor meant by a word; more workers than pieces are not started.

    Ray is imported here, and only if it is asked for.
    """
    if is_local(on):
        wanted = num_cores() if num_workers is None else num_workers
        return LocalExecutor(build, _at_most(wanted, most_workers))
    from goalward.executors.on_ray import RayExecutor

    return RayExecutor(
        build,
        num_workers,
        most_workers=most_workers,
        address=on if on.startswith(_RAY_ADDRESS) else None,
        shared=shared,
        read_from=read_from,
        num_gpus=num_gpus,
    )


def _at_most(wanted: int, most: int | None) -> int:
    return wanted if most is None else min(wanted, most)
