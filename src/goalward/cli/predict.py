"""`goalward predict`: the value of every frame of a feature file."""

from pathlib import Path

from goalward.cli.console import say


def predict_command(
    run: Path,
    features: Path,
    /,
    *,
    out: Path,
    subset: str | None = None,
    device: str | None = None,
) -> None:
    """Give every frame of some episodes its value, by value functions that were learned before.

    Writes one row per method, seed, episode and frame: raw_value (on the method's own
    scale), steps_to_goal (inf: never).

    Example:

    - `goalward predict run features.npz --out values.parquet`

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
    device
        cpu, cuda, ... Default: cuda where there is one.
    """
    # torch takes seconds to import: only commands that need it pay.
    from goalward.training.feature_file import read_features
    from goalward.values.fitted import load

    table = load(run).predict(read_features(features), subset=subset, device=device)
    table.write(out)
    methods = ", ".join(table.methods)
    say(f"values of {table.num_frames} frames by {methods}: {out}")
