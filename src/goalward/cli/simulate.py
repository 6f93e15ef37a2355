"""`goalward simulate`: rollouts of a policy in a simulator, as a data set."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from goalward.cli.console import error_console, plain
from goalward.progress import PieceBar, Setbacks, progress_bar

if TYPE_CHECKING:
    from goalward.executors.shard import Shard
    from goalward.simulate.recording.data_set import SimulationSettings
    from goalward.simulate.recording.shares import ShareDone


def simulate_command(
    task: str,
    /,
    *,
    out: Path,
    policy: str | None = None,
    episodes: int = 100,
    balanced: Annotated[bool, Parameter(negative=())] = False,
    size: int = 128,
    every: int = 1,
    seed: int = 0,
    workers: int | None = None,
    on: str = "local",
    shard: str | None = None,
    time_out: int | None = None,
    label_noise: float = 0.0,
) -> None:
    """Run a policy in a simulator and record its rollouts.

    The result is a LeRobot data set (3.0) with every camera, proprioception and outcome, and
    beside it, in `simulation`, what it takes to return the simulator to any of its frames. The
    same settings give the same files, whatever the number of workers. Stopped at any moment, the
    same command goes on.

    Examples:

    ```bash
    goalward simulate square --out rollouts/square/train --episodes 200 --balanced
    goalward simulate square --out rollouts/square/test --balanced --seed 1
    goalward simulate pick --out small --episodes 48 --size 64 --every 2
    goalward evaluate small --out run --encoder effnet-lite0  # what to do with it
    # on all machines of a cluster
    goalward simulate pick --out big --episodes 5000 --on ray
    ```

    Parameters
    ----------
    task
        square (a nut on its peg), pick (a can into its bin), cloth (a towel folded), metaworld's
        mw-pick-place, mw-peg-insert, mw-assembly and mw-shelf-place, or libero (a bowl on a plate;
        needs an environment and files of its own).
    out
        The folder for the data set.
    policy
        One of the task's policies (square: diffusion, retry, no-retry, clean; pick: retry,
        no-retry, clean, diffusion; libero and metaworld's: retry, no-retry, clean; cloth: retry,
        no-retry, careful), or the weights (.safetensors) of a diffusion policy. Default: the first.
    episodes
        How many to keep.
    balanced
        Half successes, half time-outs: the first of each that come up.
    size
        Height and width of the pictures, in pixels.
    every
        Keep one frame in so many control steps.
    seed
        Another seed, other episodes: for a test set beside a training set.
    workers
        Processes that work at the same time. Default: the number of cores.
    on
        Who works: local (processes of this machine), ray (the cluster of RAY_ADDRESS, or one
        that is started here), or the address of a Ray cluster (ray://host:10001).
    shard
        Only this share of the episodes, as in 3/16; when all shares are there, the same command
        without it makes the data set of them. For schedulers without Ray.
    time_out
        Control steps after which the clock runs out. Default: the task's.
    label_noise
        How unsure the labels are at the boundary of success, in metres (cloth alone).
    """
    from goalward.executors.choice import is_local
    from goalward.executors.shard import Shard
    from goalward.simulate.recording.data_set import Plan, SimulatedDataSet
    from goalward.simulate.recording.production import simulate, simulate_shard

    is_local(on)
    plan = Plan.of(
        task,
        policy=policy,
        episodes=episodes,
        balanced=balanced,
        seed=seed,
        size=size,
        every=every,
        time_out=time_out,
        label_noise=label_noise,
    )
    data_set = SimulatedDataSet(out)
    console = error_console()
    was_finished = data_set.is_finished
    share = None if shard is None else Shard.of(shard)
    try:
        with _Bars() as bars:
            if share is not None and not was_finished:
                done = simulate_shard(
                    plan,
                    data_set,
                    share,
                    num_workers=workers,
                    on=on,
                    on_progress=bars.update,
                    on_setbacks=bars.met,
                )
                console.print(plain(_share_in_words(done, share, out)), soft_wrap=True)
                return
            settings = simulate(
                plan,
                data_set,
                num_workers=workers,
                on=on,
                on_progress=bars.update,
                on_setbacks=bars.met,
            )
    except KeyboardInterrupt:
        console.print(plain("stopped: the same command goes on where it was"), soft_wrap=True)
        raise
    if was_finished:
        console.print(plain(f"{out}: there already, nothing to do"), soft_wrap=True)
    console.print(plain(_in_words(settings, out)), soft_wrap=True)


class _Bars:
    """One bar after the other, as there is one place for a bar."""

    def __init__(self) -> None:
        self._phase = ""
        self._bar: PieceBar | None = None
        self._shown = ExitStack()

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.close()

    def update(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self._shown.close()
            self._phase = phase
            self._bar = self._shown.enter_context(progress_bar(phase))
        if self._bar is not None:
            self._bar(done, total)

    def met(self, setbacks: Setbacks) -> None:
        if self._bar is not None:
            self._bar.met(setbacks)


def _share_in_words(done: ShareDone, shard: Shard, out: Path) -> str:
    return (
        f"shard {shard}: {done.num_episodes} episodes run, {done.num_drawn} drawn: {out}; when all "
        f"shards are there, the same command without --shard makes the data set"
    )


def _in_words(settings: SimulationSettings, out: Path) -> str:
    from goalward.metrics.uncertainty.proportions import wilson

    successes, attempts = settings.natural_successes or 0, settings.natural_attempts or 1
    limits = wilson(successes, attempts)
    lower, upper = (f"{100 * float(limit):.0f}" for limit in limits)
    folder = shlex.quote(str(out))
    evaluation = shlex.quote(f"{str(out).rstrip('/')}-evaluation")
    return (
        f"{settings.episodes} episodes of {settings.task} by {settings.policy}: {out}; it succeeds "
        f"in {100 * successes / attempts:.0f} % of episodes ({successes} of {attempts}; 95 % "
        f"interval {lower} to {upper} %) within {settings.time_out} frames; next: "
        f"goalward evaluate {folder} --out {evaluation} "
        f"--standard-horizon {settings.standard_horizon}"
    )
