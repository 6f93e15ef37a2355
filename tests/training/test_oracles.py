"""Every method against the value it is meant to find, in a world small enough to solve.

A chain of states: each step advances with probability FORWARD, ends in a trap (a failure) with
TRAPPED, and stays otherwise. A state is a one-hot feature, so that a network can say anything.
With K the steps to the goal (inf in the trap) and W(s) = E[discount^K]:

    W(s) = discount * (FORWARD * W(s + 1) + STAY * W(s)),   W(goal) = 1,   W(trap) = 0

liveness-nb, its exact variant and survival are to find 1 - 2 W; td and the returns obey the same
kind of recursion, and `liveness` the one with the minimum in it.
"""

import numpy as np
import pytest

import goalward
from goalward.targets.exact import exact_liveness
from goalward.training.methods.table import METHODS
from goalward.values.fit import fit

GOAL, FORWARD, TRAPPED = 4, 0.55, 0.08
STAY = 1 - FORWARD - TRAPPED
TRAP = GOAL + 1
DISCOUNT, TD_DISCOUNT, TD_NORMALISER, MC_NORMALISER = 0.9, 0.95, 20.0, 40.0
# 900 episodes: the sampling error of a state's mean is about 0.01; training adds as much.
TOLERANCE = 0.05


def walks(num_episodes):
    rng = np.random.default_rng(0)
    for _ in range(num_episodes):
        states = [int(rng.integers(GOAL))]
        while states[-1] < GOAL:
            draw = rng.random()
            last = states[-1]
            states.append(
                TRAP if draw < TRAPPED else last + 1 if draw < TRAPPED + FORWARD else last
            )
        yield np.array(states)


def solve(at_goal, at_trap, step):
    """Values of states 0..GOAL, TRAP: repeat V(s) = step(s, V(s + 1), V(s), V(TRAP))."""
    value = np.zeros(TRAP + 1)
    value[GOAL], value[TRAP] = at_goal, at_trap
    for _ in range(500):
        for state in range(GOAL):
            value[state] = step(state, value)
    return value


def mean_next(state, of):
    return FORWARD * of[state + 1] + STAY * of[state] + TRAPPED * of[TRAP]


ANCHOR = 1 - 2 * solve(1.0, 0.0, lambda s, v: DISCOUNT * mean_next(s, v))


def liveness_oracle(state, value):
    best = np.minimum(ANCHOR[state], value)
    return (1 - DISCOUNT) + DISCOUNT * mean_next(state, best)


def td_oracle(state, value):
    return -1 / TD_NORMALISER + TD_DISCOUNT * mean_next(state, value)


def mc_oracle(state, value):
    return -1 / MC_NORMALISER + mean_next(state, value)


def scan_oracle(states):
    """The exact solver on the recorded walks, averaged over the frames of each state."""
    flat = np.concatenate(states)
    ends = np.cumsum([len(walk) for walk in states])
    value = exact_liveness(ANCHOR[flat], ends, flat == GOAL, DISCOUNT)
    return np.bincount(flat, value) / np.bincount(flat)


@pytest.fixture(scope="module")
def oracle():
    states = list(walks(900))
    bootstrapped = solve(-1.0, (1 - DISCOUNT) + DISCOUNT * ANCHOR[TRAP], liveness_oracle)
    returns = solve(0.0, -0.5, mc_oracle)
    return states, {
        "liveness": bootstrapped,
        "liveness-nb": ANCHOR,
        "liveness-exact": scan_oracle(states),
        "liveness-nb-exact": ANCHOR,
        "survival": ANCHOR,
        "lambda-returns": ANCHOR,
        "td": solve(0.0, -1.0, td_oracle),
        "mc": returns,
        "mc-dist": returns,
    }


@pytest.fixture(scope="module")
def learned(oracle):
    states, _ = oracle
    one_hot = np.eye(TRAP + 1, dtype=np.float32)
    rollouts = goalward.from_arrays(
        [one_hot[walk] for walk in states],
        outcomes=["success" if walk[-1] == GOAL else "failure" for walk in states],
    )
    fitted = fit(
        rollouts,
        tuple(METHODS),
        seeds=1,
        device="cpu",
        width=32,
        num_layers=3,
        batch_size=256,
        num_steps=800,
        learning_rate=5e-3,
        discount=DISCOUNT,
        # The closed forms are those of the paper's boundary, on all that was recorded.
        time_out="terminal",
        held_out_fraction=0.0,
        td_discount=TD_DISCOUNT,
        td_normaliser=TD_NORMALISER,
        mc_normaliser=MC_NORMALISER,
        survival_max_steps=60,
        # One state says all there is to know, and no two are alike.
        lags=(),
        input_noise=0.0,
        **{"lambda-returns.rounds": 1, "lambda-returns.num_steps": 300},
    )
    every_state = goalward.from_arrays([one_hot], success=[False])
    return fitted.predict(every_state)


@pytest.mark.parametrize("method", METHODS)
def test_finds_its_own_value(method, oracle, learned):
    difference = learned.mean(method) - oracle[1][method]
    assert np.abs(difference).max() < TOLERANCE, difference


def test_steps_of_td_and_liveness_agree_near_the_goal(learned):
    """One step before the goal every method says one to four steps."""
    steps = learned.steps_to_goal[:, 0, GOAL - 1]
    assert (steps > 0.5).all()
    assert (steps < 10).all(), dict(zip(learned.methods, steps, strict=True))


# ---- through predictions: chances, and clocks that stop at random ------------------------------

# Of a state's 300 to 900 frames, a share has a standard error of 0.02 to 0.03; two of them, and
# what is left of the dark start: each round leaves about a third of it, 0.4 * 0.3^4 < 0.01.
CHANCE_TOLERANCE = 0.06
WITHIN = (1, 2, 5, 10, 20, 59)
FEW = {
    "seeds": 1,
    "device": "cpu",
    "width": 32,
    "num_layers": 3,
    "batch_size": 256,
    "num_steps": 200,
    "gradient_steps_per_batch": 1,
    "learning_rate": 1e-2,
    "discount": DISCOUNT,
    "held_out_fraction": 0.0,
    "survival_max_steps": 60,
    "lags": (),
    "input_noise": 0.0,
}


def chance_oracle(num_steps):
    """P(K <= n) of every state, a step at a time."""
    chance = np.zeros(TRAP + 1)
    chance[GOAL] = 1.0
    for _ in range(num_steps):
        chance[:GOAL] = [mean_next(state, chance) for state in range(GOAL)]
    return chance


def recorded(states, clocks):
    """Walks of which each was filmed for so many steps, or to its end."""
    cut = [walk[: clock + 1] for walk, clock in zip(states, clocks, strict=True)]
    endings = {GOAL: "success", TRAP: "failure"}
    return goalward.from_arrays(
        [np.eye(TRAP + 1, dtype=np.float32)[walk] for walk in cut],
        outcomes=[endings.get(int(walk[-1]), "time_out") for walk in cut],
    )


def every_state():
    """Each an episode of its own: of one frame."""
    states = np.eye(TRAP + 1, dtype=np.float32)[:, None]
    return goalward.from_arrays(list(states), success=[False] * len(states))


@pytest.fixture(scope="module", params=["whole", "cut at random"])
def through_predictions(oracle, request):
    """A third of the walks is cut before its end, by clocks that know nothing of it."""
    clocks = np.random.default_rng(1).integers(1, 9, size=900)
    whole = request.param == "whole"
    rollouts = recorded(oracle[0], np.full(900, 10**6) if whole else clocks)
    time_outs = list(rollouts.outcomes).count("time_out")
    assert time_outs == 0 if whole else time_outs > 250
    own = {"rounds": 4, "cross_fit": 2, "decay": 0.95}
    given = {f"{m}.{name}": v for m in ("survival", "lambda-returns") for name, v in own.items()}
    return fit(rollouts, ("lambda-returns", "survival"), **FEW, **given)


def test_targets_through_predictions_find_the_value(through_predictions):
    value = through_predictions.predict(every_state()).raw_value[:, 0]
    # 1 - 2 W is twice as far off as W.
    np.testing.assert_allclose(value, [ANCHOR] * 2, atol=2 * CHANCE_TOLERANCE)


@pytest.mark.parametrize("num_steps", WITHIN)
def test_targets_through_predictions_find_the_chance(through_predictions, num_steps):
    chance = through_predictions.chances(every_state(), num_steps)[:, 0]
    np.testing.assert_allclose(chance, [chance_oracle(num_steps)] * 2, atol=CHANCE_TOLERANCE)


def test_what_was_recorded_alone_takes_time_outs_for_failures(oracle):
    """What the rounds are there to mend: one start of two takes time-outs for failures."""
    rollouts = recorded(oracle[0], np.random.default_rng(1).integers(1, 9, size=900))
    own = {"lambda-returns.rounds": 0, "lambda-returns.cross_fit": 2}
    fitted = fit(rollouts, "lambda-returns", **FEW, **own)
    missing = chance_oracle(20) - fitted.chances(every_state(), 20)[0, 0]
    assert (missing[:3] > 0.15).all(), missing


def test_noise_free_features_give_the_closed_form_on_unseen_episodes():
    """|V - (1 - 2 discount^k)| < 0.02 with features that vary smoothly with the steps left."""
    horizon, discount = 40, 0.96

    def episode(start):
        left = np.arange(start, -0.1, -1) / horizon
        return np.stack([np.sin(np.pi * left), np.cos(np.pi * left), left], axis=1)

    seen = [episode(start) for start in range(20, horizon + 1, 2)]
    unseen = [episode(start + 0.5) for start in range(25, horizon, 5)]
    with pytest.warns(UserWarning, match="nothing to tell apart"):
        fitted = fit(
            goalward.from_arrays(seen, success=[True] * len(seen)),
            "liveness-nb",
            seeds=1,
            device="cpu",
            width=64,
            num_layers=3,
            batch_size=256,
            num_steps=1200,
            learning_rate=3e-3,
            discount=discount,
            held_out_fraction=0.0,
        )
    held_out = goalward.from_arrays(unseen, success=[False] * len(unseen))
    left = np.concatenate([e[:, 2] * horizon for e in unseen])
    value = fitted.predict(held_out).mean("liveness-nb")
    assert np.abs(value - (1 - 2 * discount**left)).max() < 0.02
