"""The towel: what can be done to it, exact returns, and the person who folds it."""

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("mujoco", reason="needs mujoco: pip install 'goalward[sim]'")

from goalward.seeds import generator
from goalward.simulate.policies.cloth_operator import (
    CAREFUL,
    CLOTH_HABITS,
    ORDINARY,
    ClothOperator,
    Habits,
)
from goalward.simulate.recording.label_noise import flip_probability, noisy_label
from goalward.simulate.worlds.cloth import METRES_PER_SECOND, ClothWorld
from goalward.simulate.worlds.cloth_scene import FOLD_TOLERANCE_M, TOWEL_DIAGONAL_M

OPEN, CLOSED = -1.0, 1.0


@pytest.fixture(scope="module")
def world() -> ClothWorld:
    return ClothWorld()


def bring_hand(
    world: ClothWorld, place: npt.ArrayLike, fingers: float, num_steps: int = 30
) -> None:
    """Straight to a place, but not into the table, in as many steps as are needed."""
    goal = np.maximum(np.asarray(place, dtype=np.float64), [-1.0, -1.0, 0.005])
    for _ in range(num_steps):
        way = goal - world.hand()
        if np.linalg.norm(way) < 1e-4:
            return
        world.step(np.append(way * world.fps / METRES_PER_SECOND, fingers))
    raise AssertionError(f"the hand is at {world.hand()}, not at {place}")


def pinch_corner(world: ClothWorld) -> None:
    bring_hand(world, world.corners()[0], OPEN)
    for _ in range(2):
        world.step(np.array([0.0, 0.0, 0.0, CLOSED]))


def fold(
    world: ClothWorld, operator: ClothOperator, seed: int, horizon: int
) -> tuple[list[np.ndarray], list[str], list[str]]:
    """Snapshots and memories after each step until success, and the events."""
    world.reset(generator(seed, "world"))
    operator.reset(world, generator(seed, "operator"))
    return go_on(world, operator, horizon)


def go_on(
    world: ClothWorld, operator: ClothOperator, num_steps: int
) -> tuple[list[np.ndarray], list[str], list[str]]:
    snapshots, memories, events = [], [], []
    for _ in range(num_steps):
        world.step(operator.act(world))
        events += operator.noted()
        snapshots.append(world.snapshot())
        memories.append(operator.remember())
        if world.succeeded():
            break
    return snapshots, memories, events


# ---------------------------------------------------------------- the world


def test_a_towel_at_rest_is_flat_and_unfolded(world: ClothWorld) -> None:
    world.reset(generator(0, "world"))
    assert not world.succeeded()
    assert not world.holds()
    assert world.height() < 0.02
    assert world.corner_error() == pytest.approx(TOWEL_DIAGONAL_M, abs=0.01)
    assert world.state().shape == (len(world.state_names),)
    assert world.proprioception().shape == (len(world.proprioception_names),)


def test_the_start_depends_on_the_generator_alone(world: ClothWorld) -> None:
    world.reset(generator(3, "world"))
    first = world.snapshot()
    world.step(np.array([1.0, 1.0, -1.0, CLOSED]))
    world.reset(generator(3, "world"))
    np.testing.assert_array_equal(world.snapshot(), first)
    world.reset(generator(4, "world"))
    assert not np.array_equal(world.snapshot(), first)


def test_the_hand_goes_where_it_is_told_at_a_quarter_metre_per_second(world: ClothWorld) -> None:
    world.reset(generator(0, "world"))
    before = world.hand()
    world.step(np.array([1.0, -0.5, 7.0, OPEN]))
    np.testing.assert_allclose(world.hand() - before, [0.025, -0.0125, 0.025], atol=1e-12)


def test_a_pinched_corner_follows_the_hand_until_the_fingers_open(world: ClothWorld) -> None:
    world.reset(generator(0, "world"))
    pinch_corner(world)
    assert not world.holds(), "pinched, but still on the table"
    bring_hand(world, world.hand() + np.array([0.05, -0.05, 0.08]), CLOSED)
    assert world.holds()
    assert np.linalg.norm(world.corners()[0] - world.hand()) < 0.01
    assert world.fold_error() == float("inf")
    world.step(np.array([0.0, 0.0, 0.0, OPEN]))
    assert not world.holds()
    for _ in range(5):
        world.step(np.array([0.0, 0.0, 0.0, OPEN]))
    assert world.corners()[0, 2] < 0.03


def test_fingers_that_close_beside_the_towel_hold_nothing(world: ClothWorld) -> None:
    world.reset(generator(0, "world"))
    bring_hand(world, world.corners()[0] + [-0.02, 0.0, 0.0], OPEN)
    for _ in range(2):
        world.step(np.array([0.0, 0.0, 0.0, CLOSED]))
    bring_hand(world, world.hand() + np.array([0.0, 0.0, 0.08]), CLOSED)
    assert not world.holds()
    assert world.height() < 0.02


def test_a_fold_whose_end_is_drawn_in_is_no_fold(world: ClothWorld) -> None:
    """Folded well, then B is carried half of the way to D: A still lies on C."""
    fold(world, ClothOperator(CAREFUL), seed=0, horizon=100)
    assert world.at_goal()
    _, corner_b, _, corner_d = world.corners()
    high = np.array([0.0, 0.0, 0.08])
    bring_hand(world, corner_b + high, OPEN)
    bring_hand(world, corner_b, OPEN)
    for _ in range(2):
        world.step(np.array([0.0, 0.0, 0.0, CLOSED]))
    bring_hand(world, corner_b + high, CLOSED)
    bring_hand(world, (corner_b + corner_d) / 2 + high, CLOSED)
    corner_a, corner_b, corner_c, corner_d = world.corners()[:, :2]
    assert np.linalg.norm(corner_a - corner_c) < FOLD_TOLERANCE_M
    drawn_in = (TOWEL_DIAGONAL_M - float(np.linalg.norm(corner_b - corner_d))) / 2
    assert drawn_in > 2 * FOLD_TOLERANCE_M
    assert world.corner_error() == pytest.approx(drawn_in)


def test_a_new_world_continues_from_a_snapshot_to_the_bit(world: ClothWorld) -> None:
    world.reset(generator(1, "world"))
    pinch_corner(world)
    bring_hand(world, world.hand() + np.array([0.1, -0.1, 0.08]), CLOSED)
    middle = world.snapshot()
    actions = generator(2, "actions").uniform(-1.0, 1.0, (12, world.action_size))
    actions[:6, 3] = CLOSED

    def future(continued: ClothWorld) -> list[np.ndarray]:
        rows = []
        for action in actions:
            continued.step(action)
            rows.append(
                np.concatenate(
                    [continued.snapshot(), continued.state(), continued.vertices().ravel()]
                )
            )
        return rows

    expected = future(world)
    other = ClothWorld()
    other.reset(generator(9, "world"))
    other.restore(middle)
    np.testing.assert_array_equal(other.snapshot(), middle)
    np.testing.assert_array_equal(future(other), expected)
    # Also in the world that has been elsewhere since.
    world.restore(middle)
    assert world.holds()
    np.testing.assert_array_equal(future(world), expected)


# ---------------------------------------------------------------- the operator


@pytest.mark.parametrize("seed", [0, 9])
def test_a_careful_operator_folds_at_the_first_attempt(world: ClothWorld, seed: int) -> None:
    operator = ClothOperator(CAREFUL)
    snapshots, _, events = fold(world, operator, seed, horizon=100)
    assert world.succeeded()
    assert operator.mind["attempts"] == 1
    assert events == []
    assert world.fold_error() < FOLD_TOLERANCE_M
    # Success takes three steps at the goal.
    world.restore(snapshots[-2])
    assert world.at_goal()
    assert not world.succeeded()


def test_an_episode_continues_as_recorded_from_any_frame(world: ClothWorld) -> None:
    operator = ClothOperator(ORDINARY)
    snapshots, memories, events = fold(world, operator, seed=1, horizon=70)
    assert events, "an episode without an event shows little"
    for frame in (10, 40):
        other_world, other_operator = ClothWorld(), ClothOperator(ORDINARY)
        other_world.restore(snapshots[frame])
        other_operator.recall(memories[frame])
        again, memories_again, _ = go_on(
            other_world, other_operator, num_steps=len(snapshots) - frame - 1
        )
        np.testing.assert_array_equal(again, snapshots[frame + 1 :])
        assert memories_again == memories[frame + 1 :]


def test_with_another_generator_the_operator_decides_anew(world: ClothWorld) -> None:
    operator = ClothOperator(ORDINARY)
    snapshots, memories, _ = fold(world, operator, seed=1, horizon=20)
    world.restore(snapshots[5])
    operator.recall(memories[5], generator(77, "branch"))
    again, _, _ = go_on(world, operator, num_steps=14)
    assert not np.array_equal(again[-1], snapshots[-1])


def test_a_hand_that_always_slips_is_noted_and_tries_again(world: ClothWorld) -> None:
    habits = Habits(grasp_error=0.0, slip_chance=1.0, pause_chance=0.0, reaction_steps=1.0)
    operator = ClothOperator(habits)
    _, _, events = fold(world, operator, seed=0, horizon=90)
    assert set(events) == {"slip"}
    assert operator.mind["attempts"] >= 2


def test_a_hand_that_closes_beside_the_towel_is_noted_as_a_miss(world: ClothWorld) -> None:
    operator = ClothOperator(Habits(grasp_error=0.5, pause_chance=0.0, speed=(1.0, 1.0)))
    _, _, events = fold(world, operator, seed=0, horizon=100)
    assert set(events) == {"miss"}


def test_who_folds_short_and_does_not_retry_rests(world: ClothWorld) -> None:
    habits = Habits(
        grasp_error=0.0,
        target_error=0.0,
        slip_chance=0.0,
        pause_chance=0.0,
        short_share=0.4,
        speed=(0.8, 0.8),
        retries=False,
    )
    operator = ClothOperator(habits)
    _, _, events = fold(world, operator, seed=0, horizon=75)
    assert events == ["short"]
    assert operator.mind["phase"] == "rest"
    assert operator.mind["attempts"] == 1
    assert not world.succeeded()
    assert world.fold_error() > FOLD_TOLERANCE_M


def test_only_who_does_not_retry_stops_after_one_attempt() -> None:
    retries = {name: habits.retries for name, habits in CLOTH_HABITS.items()}
    assert retries == {"retry": True, "no-retry": False, "careful": True}


# ---------------------------------------------------------------- labels at the boundary


def test_labels_flip_as_often_as_the_formula_says() -> None:
    draw = generator(0, "labels")
    num_labels = 20_000
    for error in (0.022, 0.03, 0.034):
        truth = error < FOLD_TOLERANCE_M
        flipped = sum(noisy_label(error, draw, spread=0.005) != truth for _ in range(num_labels))
        expected = flip_probability(error, spread=0.005)
        assert flipped / num_labels == pytest.approx(expected, abs=4 * 0.5 / num_labels**0.5)


def test_flips_are_rarer_farther_from_the_boundary() -> None:
    chances = [flip_probability(error, 0.005) for error in (0.03, 0.033, 0.04, 0.06, float("inf"))]
    assert chances[0] == 0.5
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] == 0.0


def test_no_spread_gives_the_true_labels_and_draws_as_much() -> None:
    draw, other = generator(0, "labels"), generator(0, "labels")
    errors = (0.0, 0.0299, 0.03, 0.1)
    assert [noisy_label(error, draw, spread=0.0) for error in errors] == [True, True, False, False]
    for error in errors:
        noisy_label(error, other, spread=0.01)
    assert draw.random() == other.random()


def test_a_label_may_be_unsure_where_the_fold_is_at_the_boundary():
    from dataclasses import replace

    from goalward import GoalwardError
    from goalward.simulate.recording.data_set import Plan
    from goalward.simulate.recording.label_noise import as_seen
    from goalward.simulate.recording.trace import run_episode

    world, operator = ClothWorld(), ClothOperator()
    trace = run_episode(world, operator, 5, time_out=4)
    assert not trace.success
    near = [as_seen(replace(trace, seed=seed), 0.031, 0.005).success for seed in range(200)]
    assert 60 < sum(near) < 120
    far = [as_seen(replace(trace, seed=seed), 0.2, 0.005).success for seed in range(200)]
    assert not any(far)
    assert Plan.of("cloth", label_noise=0.005).label_noise == 0.005
    with pytest.raises(GoalwardError, match="square has no boundary to be unsure about"):
        Plan.of("square", label_noise=0.005)
