"""`goalward predict`: the value of every frame of a feature file."""

from pathlib import Path

from goalward.cli.console import say
from goalward.errors import GoalwardError, argument
from goalward.leftovers import sweep


def predict_command(
    run: Path,
    features: Path,
    /,
    *,
    out: Path,
    subset: str | None = None,
    hindsight: float = 0.98,
    device: str | None = None,
) -> None:
    """Give frames their values by networks that were fitted before.

    Writes one row per method, seed, episode and frame: raw_value (on the method's own
    scale), steps_to_goal (inf: never), value (-1 at the goal, 1 never) and hindsight_value (the
    same, knowing how the episode went on).

    Examples:

    ```bash
    goalward embed todays --out todays.npz  # as for the training
    goalward predict run todays.npz --out values.parquet
    ```

    Parameters
    ----------
    run
        The folder that `goalward fit` or `goalward evaluate` wrote.
    features
        A feature file (.npz); its episodes need not have been seen in training.
    out
        The table of values (.parquet).
    subset
        Which value functions, where `goalward evaluate --folds` learned several: 'fold 0', ...
    hindsight
        How far hindsight values follow the recording, from 0 to 1.
    device
        cpu, cuda, ... Default: cuda where there is one.
    """
    # torch takes seconds to import: only commands that need it pay.
    from goalward.training.stored.feature_file import read_features
    from goalward.values.fitted import load
    from goalward.values.hindsight import with_hindsight

    if not 0 <= hindsight <= 1:
        raise GoalwardError(f"{argument('hindsight', hindsight)}: must lie between 0 and 1")
    if out.suffix != ".parquet":
        raise GoalwardError(f"--out {out}: the table is parquet; end its name in .parquet")
    fitted, rollouts = load(run), read_features(features)
    discount = fitted.numbers.discount
    # A fit has settled every number.
    assert discount is not None
    table = fitted.predict(rollouts, subset=subset, device=device)
    table = with_hindsight(table, rollouts.endings, discount, hindsight)
    sweep(out.parent, name=out.name)
    table.write(out)
    methods = ", ".join(table.methods)
    say(f"values of {table.num_frames} frames by {methods}: {out}")
