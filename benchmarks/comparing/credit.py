"""Rollouts that partial credit saves, and what may go wrong where the score is a learned value.

    python benchmarks/comparing/credit.py

A task of four stages, each passed with a chance of its own: success is all of them, progress the
share that was passed. First table: pairs of rollouts until the watching test is settled by success,
by progress, and by a value, the chance of success as a judge sees it at the end.

Second table: false alarms where the judge is learned from the rollouts that it scores. A judge is a
logistic regression of success on a noisy picture of how far the rollout came (and on 10 numbers
that mean nothing). It was learned elsewhere; from both policies together; the same, each rollout by
a judge that did not see it (cross-fitted, five parts); or from each policy apart, as two runs of
`goalward evaluate` are.
"""

import argparse
from collections.abc import Callable

import numpy as np

from goalward.metrics.comparing.partial_credit.watching import log_e_values

ALPHA, PAIRS, STAGES, NOISE_NUMBERS = 0.05, 200, 4, 10
Rollouts = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(
    rng: np.random.Generator, rate: float, shape: tuple[int, ...], last: float = 0.0
) -> Rollouts:
    """Success, progress, and features of rollouts of a policy that succeeds with this rate.

    `last` is how much of the difficulty is in the last stage: 0 is alike in all, 1 all of it.
    """
    each = np.full(STAGES, rate ** ((1 - last) / STAGES))
    each[-1] *= rate**last
    passed = np.cumprod(rng.random((*shape, STAGES)) < each, axis=-1).sum(axis=-1)
    seen = passed / STAGES + rng.normal(0, 0.15, shape)
    noise = rng.normal(size=(*shape, NOISE_NUMBERS))
    features = np.concatenate([np.ones((*shape, 1)), seen[..., None], noise], axis=-1)
    return passed == STAGES, passed / STAGES, features


def learned(features: np.ndarray, success: np.ndarray) -> np.ndarray:
    """A logistic regression with a little ridge, by Newton's steps."""
    weights = np.zeros(features.shape[-1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (success - chance) - 0.1 * weights
        bend = (features.T * (chance * (1 - chance))) @ features + 0.1 * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def chance(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-features @ weights))


def settled(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    reached = log_e_values(second.astype(float) - first.astype(float)) >= -np.log(ALPHA)
    return np.where(reached.any(axis=-1), reached.argmax(axis=-1) + 1.0, np.inf)


def saved(num: int) -> None:
    print("| rates | difficulty | score | settled by 200 | median | 90 % |")
    print("|---|---|---|---|---|---|")
    for p, q in ((0.5, 0.8), (0.1, 0.3), (0.02, 0.1), (0.85, 0.95), (0.3, 0.3)):
        for words, last in (("alike in all stages", 0.0), ("in the last stage", 1.0)):
            rng = np.random.default_rng(0)
            elsewhere = draw(rng, (p + q) / 2, (400,), last)
            judge = learned(elsewhere[2], elsewhere[0])
            a, b = draw(rng, p, (num, PAIRS), last), draw(rng, q, (num, PAIRS), last)
            scores = {
                "success": (a[0], b[0]),
                "progress": (a[1], b[1]),
                "value": (chance(a[2], judge), chance(b[2], judge)),
            }
            for name, (first, second) in scores.items():
                at = settled(first, second)
                middle, late = (
                    f"{k:.0f}" if k <= PAIRS else f"over {PAIRS}"
                    for k in np.quantile(at, [0.5, 0.9], method="inverted_cdf")
                )
                share = (at <= PAIRS).mean()
                print(f"| {p} and {q} | {words} | {name} | {share:.3f} | {middle} | {late} |")


def judged(num: int) -> None:
    print(
        "\n| judge | rollouts of each | false alarms at the end (permutations) | ever, watching |"
    )
    print("|---|---|---|---|")
    judges: dict[str, Callable[[Rollouts, Rollouts, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
        "learned elsewhere": lambda a, b, fixed: (chance(a[2], fixed), chance(b[2], fixed)),
        "both together": _together,
        "both together, cross-fitted": _cross_fitted,
        "each policy apart": lambda a, b, _: (
            chance(a[2], learned(a[2], a[0])),
            chance(b[2], learned(b[2], b[0])),
        ),
    }
    for size in (20, 50):
        for name, judge in judges.items():
            rng = np.random.default_rng(0)
            elsewhere = draw(rng, 0.6, (400,))
            fixed = learned(elsewhere[2], elsewhere[0])
            at_end, ever = [], []
            for _ in range(num):
                first, second = judge(draw(rng, 0.6, (size,)), draw(rng, 0.6, (size,)), fixed)
                at_end.append(_permutations(rng, first, second) <= ALPHA)
                ever.append(np.isfinite(settled(first[None], second[None])[0]))
            print(f"| {name} | {size} | {np.mean(at_end):.3f} | {np.mean(ever):.3f} |", flush=True)


def _together(a: Rollouts, b: Rollouts, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    judge = learned(np.concatenate([a[2], b[2]]), np.concatenate([a[0], b[0]]))
    return chance(a[2], judge), chance(b[2], judge)


def _cross_fitted(a: Rollouts, b: Rollouts, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    part = np.arange(len(a[0])) % 5
    scores = np.zeros(len(a[0])), np.zeros(len(b[0]))
    for one in range(5):
        own, others = part == one, part != one
        judge = learned(
            np.concatenate([a[2][others], b[2][others]]),
            np.concatenate([a[0][others], b[0][others]]),
        )
        scores[0][own], scores[1][own] = chance(a[2][own], judge), chance(b[2][own], judge)
    return scores


def _permutations(rng: np.random.Generator, first: np.ndarray, second: np.ndarray) -> float:
    """As `permutation_test` by draws, with fewer of them."""
    pool = np.concatenate([first, second])
    drawn = rng.permuted(np.tile(pool, (199, 1)), axis=1)[:, : len(first)].sum(axis=1)
    tails = (drawn >= first.sum()).sum(), (drawn <= first.sum()).sum()
    return 2 * (min(tails) + 1) / 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=1_000)
    num = parser.parse_args().experiments
    saved(num)
    judged(num)


if __name__ == "__main__":
    main()
