"""Training logs: written, read to the digit, and refused in words when they are something else."""

import pytest

from goalward.errors import GoalwardError
from goalward.values.training_log import (
    LossCurve,
    TrainingLog,
    read_training_log,
    write_training_log,
)

SCORED = LossCurve(
    stage="sparse",
    seed=3,
    task='lift "it", then\nturn',
    subset="fold 1",
    fold=0,
    num_episodes=12,
    steps=(10, 20, 30),
    loss=(0.5, 0.1, 1e-9),
    held_out_loss=(0.4, 0.25, 0.25),
)
UNSCORED = LossCurve("mc", 0, "", "", None, 8, (10,), (0.125,), None)
# As an anchor of successes and one of all episodes are.
OF_FEWER = LossCurve("mc", 0, "", "", None, 4, (10,), (0.25,), None)
LOG = TrainingLog((SCORED, UNSCORED, OF_FEWER))


def test_survives_the_disk(tmp_path):
    path = tmp_path / "training_log.csv"
    write_training_log(path, LOG)
    assert read_training_log(path) == LOG
    assert path.read_text().splitlines()[-1] == "mc,0,,,,4,10,0.25,"


def test_no_networks_no_rows(tmp_path):
    path = tmp_path / "training_log.csv"
    write_training_log(path, TrainingLog(()))
    assert path.read_text() == (
        "stage,seed,task,subset,fold,num_episodes,step,loss,held_out_loss\n"
    )
    assert read_training_log(path) == TrainingLog(())


def test_curves_of_a_stage():
    assert LOG.stages == ("sparse", "mc")
    assert LOG.of_stage("mc") == (UNSCORED, OF_FEWER)


def test_kept_is_the_first_of_the_best_or_the_last_of_all():
    assert SCORED.kept_step == 20
    assert UNSCORED.kept_step == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "training_log.csv: no such file"),
        ("seed,step\n", "is no training log .no column .*loss.*stage.*"),
        (
            "stage,seed,task,subset,fold,num_episodes,step,loss,held_out_loss\nmc,x,,,,1,1,1,\n",
            "is no training log .invalid literal for int",
        ),
        (
            "stage,seed,task,subset,fold,num_episodes,step,loss,held_out_loss\nmc,0\n",
            "is no training log",
        ),
    ],
)
def test_what_is_no_log(tmp_path, text, message):
    path = tmp_path / "training_log.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(GoalwardError, match=message):
        read_training_log(path)
