"""Features: which numbers stand where, of what type, and that nobody takes them for others."""

from pathlib import Path

import numpy as np
import pytest
from rollout_files.small_encoder import WIDTH, picture_rollouts, small_encoder

import goalward
from goalward import GoalwardError, Rollouts
from goalward.embeddings.embed import embed
from goalward.embeddings.features import layout

LENGTHS = [5, 3, 4]
CAMERAS = ("view.front", "view.wrist")
ROLLOUTS = picture_rollouts(LENGTHS, cameras=CAMERAS, state_size=3)
SMALL = {"width": 8, "num_layers": 2, "num_steps": 6, "batch_size": 16, "device": "cpu"}


def features(rollouts: Rollouts = ROLLOUTS, **options) -> np.ndarray:
    found = embed(rollouts, small_encoder(), device="cpu", **options).features
    assert found is not None
    return found


def camera(name: str) -> np.ndarray:
    return features(cameras=[name], proprioception=False)


def test_cameras_then_proprioception():
    front, wrist = camera("view.front"), camera("view.wrist")
    assert front.shape == wrist.shape == (12, WIDTH)
    assert not np.array_equal(front, wrist)
    both = features()
    assert both.shape == (12, 2 * WIDTH + 3)
    assert np.array_equal(both[:, :WIDTH], front)
    assert np.array_equal(both[:, WIDTH : 2 * WIDTH], wrist)
    assert np.array_equal(both[:, 2 * WIDTH :], ROLLOUTS.proprioception)


def test_cameras_come_in_the_order_asked_for():
    turned = features(cameras=["wrist", "front"])
    assert np.array_equal(turned[:, :WIDTH], camera("wrist"))
    assert np.array_equal(turned[:, WIDTH : 2 * WIDTH], camera("front"))
    assert np.array_equal(features(cameras=["wrist", "front", "view.wrist"]), turned)


def test_types():
    """Proprioception has small differences that float16 would lose; embeddings do not."""
    assert features().dtype == np.float32
    assert features(proprioception=False).dtype == np.float16
    assert features(picture_rollouts(LENGTHS)).dtype == np.float16
    assert features(cameras=()).dtype == np.float32


def test_several_observations_stand_side_by_side_oldest_first():
    once, thrice = features(), features(n_obs_steps=3)
    size = once.shape[1]
    assert thrice.shape == (12, 3 * size)
    start = 0
    for length in LENGTHS:
        for frame in range(length):
            seen = [start + max(frame - back, 0) for back in (2, 1, 0)]
            assert np.array_equal(thrice[start + frame], once[seen].reshape(-1))
        start += length


def test_a_part_of_the_rollouts_has_its_part_of_the_features():
    whole = features(n_obs_steps=2)
    chosen = features(ROLLOUTS.select([2, 0]), n_obs_steps=2)
    assert np.array_equal(chosen, np.concatenate([whole[8:], whole[:5]]))


@pytest.mark.parametrize("cameras", [CAMERAS, ()])
def test_large_features_lie_in_a_file(cameras, monkeypatch: pytest.MonkeyPatch, cache: Path):
    wanted = features(cameras=cameras, n_obs_steps=2)
    files = set(cache.rglob("*"))
    monkeypatch.setattr("goalward.spilled.IN_MEMORY_BYTES", wanted.nbytes - 1)
    embedded = embed(ROLLOUTS, small_encoder(), device="cpu", cameras=cameras, n_obs_steps=2)
    stored = embedded.features
    assert isinstance(stored, np.memmap)
    assert not isinstance(wanted, np.memmap)
    assert np.array_equal(stored, wanted)
    assert {path for path in cache.rglob("*") if path.is_file()} <= files, "the file has no name"
    monkeypatch.setattr("goalward.spilled.IN_MEMORY_BYTES", wanted.nbytes)
    assert not isinstance(features(cameras=cameras, n_obs_steps=2), np.memmap)


@pytest.mark.parametrize(
    ("rollouts", "options", "message"),
    [
        (ROLLOUTS, {"cameras": ["side"]}, "no camera side; cameras: view.front, view.wrist"),
        (ROLLOUTS, {"n_obs_steps": 0}, "n_obs_steps=0: must be at least 1"),
        (ROLLOUTS, {"batch_size": 0}, "batch_size=0: must be at least 1"),
        (ROLLOUTS, {"device": "tpu!"}, "no device 'tpu!'"),
        (ROLLOUTS[:0], {}, "there are no episodes to embed"),
        (picture_rollouts([3]), {"cameras": ()}, "without cameras there must be proprioception"),
        (picture_rollouts([3], cameras=()), {}, "no camera is in every episode"),
    ],
)
def test_what_cannot_be_embedded(rollouts: Rollouts, options: dict, message: str):
    with pytest.raises(GoalwardError, match=message):
        embed(rollouts, small_encoder(), **options)


def test_proprioception_alone_needs_no_encoder(cache: Path):
    """The default encoder's files are not to be had here."""
    embedded = embed(ROLLOUTS, cameras=())
    assert np.array_equal(embedded.features, ROLLOUTS.proprioception)
    assert embedded.feature_layout == "3 proprioceptive numbers; 1 observation"
    assert not cache.exists()


def test_without_cameras_and_numbers_there_is_nothing():
    with pytest.raises(GoalwardError, match="without cameras there must be proprioception"):
        embed(ROLLOUTS, small_encoder(), cameras=(), proprioception=False)


def test_generated_frames_are_embedded_as_arrays_are():
    films = [list(episode.frames("front")) for episode in ROLLOUTS]
    generated = goalward.from_arrays(
        images={"view.front": (iter(film) for film in films)}, success=list(ROLLOUTS.success)
    )
    assert np.array_equal(features(generated), camera("view.front"))


# ---- features of one's own -----------------------------------------------------------------------

FORCES = np.arange(12 * 2, dtype=np.float32).reshape(12, 2) / 7


def test_features_that_were_there_stay(cache: Path):
    embedded = embed(ROLLOUTS.with_features(FORCES), small_encoder(), device="cpu")
    assert embedded.features is not None
    assert np.array_equal(embedded.features, np.concatenate([features(), FORCES], axis=1))
    assert embedded.feature_layout == (
        "tests/small@111111111111, pool global of view.front, view.wrist; "
        "3 proprioceptive numbers; 2 given features; 1 observation"
    )


def test_features_from_arrays_stay():
    films = [list(episode.frames("front")) for episode in ROLLOUTS]
    parts = np.split(FORCES, np.cumsum(ROLLOUTS.lengths)[:-1])
    given = goalward.from_arrays(
        parts, list(ROLLOUTS.success), images={"view.front": [np.stack(film) for film in films]}
    )
    expected = np.concatenate([camera("view.front"), FORCES], axis=1)
    assert np.array_equal(features(given), expected)


def test_features_that_were_there_follow_their_episodes():
    """Views, episodes left out and several observations move them along with the frames."""
    given = ROLLOUTS.with_features(FORCES)
    turned = features(given.select([2, 0]), cameras=(), proprioception=False)
    assert np.array_equal(turned, np.concatenate([FORCES[8:], FORCES[:5]]))
    both = features(given, cameras=(), proprioception=False, n_obs_steps=2)
    before = np.concatenate([FORCES[[0, 0, 1, 2, 3]], FORCES[[5, 5, 6]], FORCES[[8, 8, 9, 10]]])
    assert np.array_equal(both, np.concatenate([before, FORCES], axis=1))

    class Unreadable:
        num_frames = 3

        def fingerprint(self):
            raise goalward.RolloutError("its video is gone")

    episodes = [
        goalward.Episode("0", 5, "time_out", cameras={"front": ROLLOUTS[0].camera("front")}),
        goalward.Episode("1", 3, "time_out", cameras={"front": Unreadable()}),
        goalward.Episode("2", 4, "time_out", cameras={"front": ROLLOUTS[2].camera("front")}),
    ]
    left = embed(Rollouts(episodes, features=FORCES), small_encoder(), device="cpu")
    assert left.ids == ("0", "2")
    assert np.array_equal(left.features[:, WIDTH:], np.concatenate([FORCES[:5], FORCES[8:]]))


def test_features_that_were_there_can_be_left_out():
    given = ROLLOUTS.with_features(FORCES)
    dropped = embed(given, small_encoder(), device="cpu", keep_features=False)
    alone = embed(ROLLOUTS, small_encoder(), device="cpu", keep_features=True)
    assert np.array_equal(dropped.features, alone.features)
    assert dropped.feature_layout == alone.feature_layout


def test_features_with_a_name_are_neither_joined_nor_lost_without_a_word():
    front = embed(ROLLOUTS, small_encoder(), device="cpu", cameras=["front"])
    with pytest.raises(GoalwardError) as caught:
        embed(front, small_encoder(), device="cpu", cameras=["wrist"])
    assert str(caught.value) == (
        f"the rollouts have features already ({front.feature_layout}): keep_features=True puts "
        "them beside the new ones, keep_features=False replaces them"
    )
    options = {"device": "cpu", "cameras": ["wrist"], "proprioception": False}
    beside = embed(front, small_encoder(), keep_features=True, **options)
    assert np.array_equal(
        beside.features, np.concatenate([camera("wrist"), front.features], axis=1)
    )
    assert f"11 given features ({front.feature_layout}); 1 observation" in beside.feature_layout
    replaced = embed(front, small_encoder(), keep_features=False, **options)
    assert np.array_equal(replaced.features, camera("wrist"))
    assert replaced.feature_layout == embed(ROLLOUTS, small_encoder(), **options).feature_layout


def test_half_precision_stays_where_nothing_asks_for_more():
    given = picture_rollouts(LENGTHS).with_features(FORCES.astype(np.float16))
    assert features(given).dtype == np.float16
    assert features(ROLLOUTS.with_features(FORCES.astype(np.float16))).dtype == np.float32


# ---- layouts -------------------------------------------------------------------------------------


def test_the_layout_says_all_that_matters():
    embedded = embed(ROLLOUTS, small_encoder(), device="cpu", n_obs_steps=2)
    assert embedded.feature_layout == (
        "tests/small@111111111111, pool global of view.front, view.wrist; "
        "3 proprioceptive numbers; 2 observations"
    )
    variants = [
        ("a", ["front"], 3, 1),
        ("b", ["front"], 3, 1),
        ("a", ["wrist"], 3, 1),
        ("a", ["front", "wrist"], 3, 1),
        ("a", ["wrist", "front"], 3, 1),
        ("a", ["front"], 2, 1),
        ("a", ["front"], 3, 2),
    ]
    assert len({layout(*variant) for variant in variants}) == len(variants)


def test_value_functions_refuse_features_of_another_layout(tmp_path: Path):
    front, wrist = (embed(ROLLOUTS, small_encoder(), cameras=[c], device="cpu") for c in CAMERAS)
    assert front.features is not None
    assert wrist.features is not None
    assert front.features.shape == wrist.features.shape
    fitted = goalward.fit(front, "mc", seeds=1, **SMALL)
    fitted.save(tmp_path / "run")
    goalward.write_features(tmp_path / "wrist.npz", wrist)
    loaded, read = goalward.load(tmp_path / "run"), goalward.read_features(tmp_path / "wrist.npz")
    assert loaded.feature_layout == front.feature_layout
    assert read.feature_layout == wrist.feature_layout
    for asked in (fitted, loaded):
        for other in (wrist, read):
            with pytest.raises(GoalwardError, match="know features made of .*view.front; .* have"):
                asked.predict(other, device="cpu")
        assert asked.predict(front, device="cpu").raw_value.shape == (1, 1, 12)
        # Features that a user brings carry no words and are taken as they are.
        unnamed = wrist.with_features(wrist.features)
        assert asked.predict(unnamed, device="cpu").raw_value.shape == (1, 1, 12)


def test_features_survive_the_disk(tmp_path: Path):
    embedded = embed(ROLLOUTS, small_encoder(), device="cpu", proprioception=False)
    goalward.write_features(tmp_path / "features.npz", embedded)
    read = goalward.read_features(tmp_path / "features.npz")
    assert read.features is not None
    assert read.features.dtype == np.float16
    assert np.array_equal(read.features, embedded.features)
    assert (read.ids, read.feature_layout) == (embedded.ids, embedded.feature_layout)
    assert list(read.outcomes) == list(embedded.outcomes)


def test_a_view_keeps_features_and_layout():
    embedded = embed(ROLLOUTS, small_encoder(), device="cpu")
    part = embedded.select([2, 1])
    assert part.feature_layout == embedded.feature_layout
    assert np.array_equal(
        part.features, np.concatenate([embedded.features[8:], embedded.features[5:8]])
    )


# ---- standardisation -----------------------------------------------------------------------------


def test_test_episodes_do_not_reach_the_standardisation(cache: Path):
    """Proprioception goes in as recorded; a fit standardises it with its training episodes."""

    def fitted(shift: float) -> tuple[np.ndarray, np.ndarray, Rollouts]:
        rollouts = picture_rollouts([5] * 8, state_size=3)
        train, test = rollouts.split(0.25, seed=0)
        moved = set(test.ids)
        episodes = [
            goalward.Episode(
                episode.id,
                episode.num_frames,
                episode.outcome,
                goal_frame=episode.goal_frame,
                cameras=episode.cameras,
                proprioception=episode.proprioception + np.float32(shift * (episode.id in moved)),
            )
            for episode in rollouts
        ]
        embedded = embed(Rollouts(episodes), small_encoder(), device="cpu")
        train, test = embedded.split(0.25, seed=0)
        assert set(test.ids) == moved
        fit = goalward.fit(train, "mc", seeds=1, **SMALL)
        (nets,) = fit.nets
        values = fit.predict(train, device="cpu").raw_value
        return np.concatenate([nets.mean[0, 0], nets.scale[0, 0]]), values, train

    (first, first_values, train), (second, second_values, _) = fitted(0.0), fitted(1000.0)
    assert np.array_equal(first, second)
    assert np.array_equal(first_values, second_values)
    assert train.features is not None
    np.testing.assert_allclose(
        first[WIDTH : WIDTH + 3], train.proprioception.mean(axis=0), atol=1e-5
    )
    np.testing.assert_allclose(first[-3:], train.proprioception.std(axis=0), rtol=1e-4)
