"""Scores by other programs as further methods of an evaluation."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goalward
from goalward import GoalwardError
from goalward.values.calibrated_scores import falls_towards_goal
from goalward.values.score_file import read_scores
from goalward.values.table import read_values

TINY = {"width": 8, "num_layers": 2, "num_steps": 20, "batch_size": 32}
LENGTH = 12


def rollouts(num_episodes=16):
    """Every other one succeeds; the features say so."""
    ramp = np.linspace(0, 1, LENGTH)[:, None]
    draws = np.random.default_rng(0)
    arrays = [
        (ramp if i % 2 == 0 else 0 * ramp) + 0.1 * draws.normal(size=(LENGTH, 2))
        for i in range(num_episodes)
    ]
    return goalward.from_arrays(arrays, success=[i % 2 == 0 for i in range(num_episodes)])


def score_file(path, score_of, num_episodes=16, column="score"):
    episode, frame = np.divmod(np.arange(num_episodes * LENGTH), LENGTH)
    scores = [float(score_of(int(e), int(f))) for e, f in zip(episode, frame, strict=True)]
    table = {"episode_index": episode, "frame_index": frame, column: pa.array(scores, pa.float32())}
    # No order of rows is promised.
    order = np.random.default_rng(1).permutation(len(scores))
    pq.write_table(pa.table(table).take(pa.array(order)), path)
    return path


def oracle(episode, frame):
    return frame if episode % 2 == 0 else -1


def evaluate(folder, **options):
    return goalward.evaluate(
        rollouts(), folder, methods="mc", folds=2, report=False, progress=False, **TINY, **options
    )


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_perfect_score_is_judged_perfect_and_a_useless_one_useless(tmp_path, seeds):
    good = score_file(tmp_path / "good.parquet", oracle, column="progress_sparse")
    bad = score_file(tmp_path / "bad.parquet", lambda episode, frame: frame)
    run = evaluate(tmp_path / "run", seeds=seeds, scores=[good, f"clock={bad}"])
    assert run.values.methods == ("mc", "good", "clock")
    assert run.method == "mc"
    auroc = {
        m: run.scores.cards[m]["frame_auroc"].over_seeds.mean.value for m in run.values.methods
    }
    assert auroc["good"] == 1.0
    assert auroc["clock"] == pytest.approx(0.5, abs=0.05)
    # The curve of others is that of the recording: 11 steps before the goal, 10, ... 0; never.
    steps = run.values.steps("good").reshape(seeds, 16, LENGTH)
    assert steps[:, 0] == pytest.approx(np.tile(np.arange(11.0, -1, -1), (seeds, 1)), abs=1e-3)
    assert np.isinf(steps[:, 1]).all()
    assert run.values.raw_values("good")[0, :3].tolist() == [0.0, 1.0, 2.0]
    assert run.chances.within_steps("good", 3)[:LENGTH].tolist() == [0] * 8 + [1] * 4
    assert run.events_by("good")["0"][-1].kind == "goal"
    again = goalward.open_run(run.folder.path)
    assert again.values.methods == run.values.methods


@pytest.mark.parametrize(
    ("score_of", "falls"),
    [
        (oracle, False),
        (lambda episode, frame: -oracle(episode, frame), True),
        (lambda episode, frame: frame, False),
        # A distance to the goal, with noise.
        (lambda episode, frame: 11 - frame + (episode * 7 + frame * 5) % 3, True),
        (lambda episode, frame: (episode * 7 + frame * 5) % 11, False),
        (lambda episode, frame: 1, False),
    ],
)
def test_a_score_that_falls_towards_the_goal_is_told(tmp_path, caplog, score_of, falls):
    file = score_file(tmp_path / "theirs.parquet", score_of)
    data = rollouts()
    given = read_scores("theirs", file, data.ids, data.lengths.tolist())
    assert falls_towards_goal(given.score, data.endings) is falls
    evaluate(tmp_path / "run", seeds=1, scores=[file])
    assert ("scores theirs fall as the goal comes nearer" in caplog.text) is falls


def test_scores_are_added_in_place_and_taken_away_again_without_training(tmp_path, caplog):
    good = score_file(tmp_path / "good.parquet", oracle)
    folder = tmp_path / "run"
    first = evaluate(folder, seeds=1)
    networks = {p: p.stat().st_mtime_ns for p in folder.glob("networks/*")}
    assert evaluate(folder, seeds=1, scores={"theirs": good}).values.methods == ("mc", "theirs")
    assert {p: p.stat().st_mtime_ns for p in folder.glob("networks/*")} == networks
    last = evaluate(folder, seeds=1)
    assert last.folder.path == folder
    assert read_values(folder / "values.parquet").methods == ("mc",)
    assert np.array_equal(last.values.value, first.values.value)


def test_a_score_that_falls_towards_the_goal_becomes_a_constant(tmp_path):
    upside_down = score_file(tmp_path / "down.parquet", lambda e, f: -oracle(e, f))
    run = evaluate(tmp_path / "run", seeds=1, scores=[upside_down])
    assert run.scores.cards["down"]["frame_auroc"].over_seeds.mean.value < 0.7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.slice(1), "has no score of frame 0 of episode 0"),
        (lambda t: pa.concat_tables([t, t.slice(0, 1)]), "has two scores of frame 0 of episode 0"),
        (lambda t: t.rename_columns(["episode", "frame", "reward"]), "no column for the score"),
        (lambda t: t.drop_columns(["frame_index"]), "no column for the frame"),
        (
            lambda t: t.set_column(
                1, "frame_index", pa.array([99, *range(1, 12), *t[1].to_pylist()[12:]])
            ),
            "frame 99 of episode 0, which has 12 frames",
        ),
        (
            lambda t: t.set_column(2, "score", pa.array([np.nan, *t[2].to_pylist()[1:]])),
            "NaN or infinity at frame 0 of episode 0",
        ),
        (
            lambda t: t.set_column(0, "episode_index", pa.array(["x"] * len(t))),
            "episodes x, and none of them was recorded here",
        ),
        (
            lambda t: t.set_column(2, "score", pa.array(["far"] * len(t))),
            "score holds no numbers, but string",
        ),
    ],
)
def test_scores_that_do_not_fit_are_refused_before_anything_is_made(tmp_path, change, message):
    path = score_file(tmp_path / "bad.parquet", oracle)
    table = pq.read_table(path).sort_by(
        [("episode_index", "ascending"), ("frame_index", "ascending")]
    )
    pq.write_table(change(table), path)
    with pytest.raises(GoalwardError, match=message):
        evaluate(tmp_path / "run", seeds=1, scores=[path])
    assert not (tmp_path / "run").exists()


def test_episodes_that_are_not_evaluated_are_left_aside(tmp_path, caplog):
    more = score_file(tmp_path / "more.parquet", oracle, num_episodes=18)
    run = evaluate(tmp_path / "run", seeds=1, scores=[more])
    assert run.values.methods == ("mc", "more")
    assert "scores of 2 episodes that are not evaluated are left aside: 16, 17" in caplog.text


def test_names_and_files_that_cannot_be(tmp_path):
    good = score_file(tmp_path / "good.parquet", oracle)
    with pytest.raises(GoalwardError, match="mc is a method of its own"):
        evaluate(tmp_path / "run", scores={"mc": good})
    with pytest.raises(GoalwardError, match="two files are called good"):
        evaluate(tmp_path / "run", scores=[good, good])
    with pytest.raises(GoalwardError, match=r"nowhere\.parquet: no such file"):
        evaluate(tmp_path / "run", scores=[tmp_path / "nowhere.parquet"])
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(GoalwardError, match="cannot be read as parquet"):
        evaluate(tmp_path / "run", scores=[tmp_path / "text.parquet"])
