"""How often the intervals of `goalward compare` hold the truth, by simulation.

    python benchmarks/comparing/intervals.py                # all, 2,000 experiments a cell
    python benchmarks/comparing/intervals.py scores --experiments 500

Prints the rows of the table in docs/comparing.md: interval, experiments, share that holds. Rates
are drawn between 5 and 98 % for every experiment: what a team meets over the years.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from goalward.metrics.comparing.checkpoints import trend
from goalward.metrics.comparing.partial_credit.mean_interval import (
    difference_by_task as score_difference_by_task,
)
from goalward.metrics.comparing.partial_credit.mean_interval import (
    mean_by_task,
    mean_interval,
    paired_difference_interval,
)
from goalward.metrics.comparing.partial_credit.watching import unrefuted_differences
from goalward.metrics.comparing.preferences import Preference, rank_by_preferences
from goalward.metrics.comparing.rates.posterior import central, compare_rates, rate_posterior
from goalward.metrics.comparing.tasks.rates import (
    common_weights,
    difference_of,
    task_rate,
)
from goalward.metrics.comparing.unlabelled_rollouts.mean import predicted_difference, predicted_mean
from goalward.metrics.comparing.watching.sequential import difference_interval as watched_interval
from goalward.metrics.uncertainty.proportions import (
    ConfidenceLimits,
    clopper_pearson,
    difference,
    difference_by_task,
    paired_difference,
    wilson,
)

Row = tuple[str, str, float]
# Easy and hard tasks, in which two policies ran as many rollouts or not.
BALANCED = ((20, 20, 20), (20, 20, 20))
UNBALANCED = ((40, 15, 5), (5, 15, 40))


def holds(limits: ConfidenceLimits, truth: np.ndarray | float) -> float:
    return float(((limits.lower <= truth) & (truth <= limits.upper)).mean())


def stacked(limits: list[ConfidenceLimits]) -> ConfidenceLimits:
    return ConfidenceLimits(
        np.array([float(one.lower) for one in limits]),
        np.array([float(one.upper) for one in limits]),
    )


def started_alike(
    rng: np.random.Generator, first: np.ndarray, second: np.ndarray, size: int, alike: float
) -> tuple[np.ndarray, np.ndarray]:
    """Successes (experiments, pairs); a share `alike` of pairs has the same luck."""
    luck = rng.random((2, len(first), size))
    luck[1] = np.where(rng.random(luck[0].shape) < alike, luck[0], luck[1])
    return luck[0] < first[:, None], luck[1] < second[:, None]


# ---- success rates ------------------------------------------------------------------------------


def rates(num: int, rng: np.random.Generator) -> Iterator[Row]:
    rate = rng.uniform(0.05, 0.98, num)
    for size in (10, 20, 50, 200):
        x = rng.binomial(size, rate)
        yield "Wilson", f"{size} rollouts", holds(wilson(x, size), rate)
        yield "Clopper-Pearson", f"{size} rollouts", holds(clopper_pearson(x, size), rate)
    other = rng.uniform(0.05, 0.98, num)
    for m, n in ((20, 20), (50, 50), (50, 200), (500, 500)):
        found = difference(rng.binomial(m, rate), m, rng.binomial(n, other), n)
        yield "Newcombe", f"{m} and {n} rollouts", holds(found, other - rate)
    for alike in (0.0, 0.5, 0.9):
        for size in (20, 50, 500):
            a, b = started_alike(rng, rate, other, size, alike)
            found = paired_difference((a & ~b).sum(axis=1), (b & ~a).sum(axis=1), size)
            name = f"{size} pairs, {100 * alike:.0f} % with the same luck"
            yield "Tango", name, holds(found, other - rate)
            if size == 50:
                apart = difference(a.sum(axis=1), size, b.sum(axis=1), size)
                yield "Newcombe, as if not paired", name, holds(apart, other - rate)


def by_task(num: int, rng: np.random.Generator) -> Iterator[Row]:
    first = np.array([0.9, 0.5, 0.1])
    for words, second in (
        ("same difference", first + 0.08),
        ("unlike differences", first + np.array([0.05, 0.3, -0.05])),
    ):
        for name, totals in (("balanced", BALANCED), ("unbalanced", UNBALANCED)):
            n1, n2 = (np.tile(side, (num, 1)) for side in totals)
            x1, x2 = rng.binomial(n1, first), rng.binomial(n2, second)
            weights = common_weights(totals)
            truth = float((weights * (second - first)).sum())
            case = f"3 tasks of 20, {name}, {words}"
            found = difference_by_task(x1, n1, x2, n2)
            yield "Klingenberg", case, holds(found, truth)
            own = [
                [task_rate(x, n, weights) for x, n in zip(xs, ns, strict=True)]
                for xs, ns in ((x1, n1), (x2, n2))
            ]
            of_rates = stacked([one.interval(0.95) for one in own[1]])
            yield "rate over tasks (Wilson)", case, holds(of_rates, (weights * second).sum())
            of_both = stacked([difference_of(a, b, 0.95) for a, b in zip(*own, strict=True)])
            yield "difference of rates over tasks", case, holds(of_both, truth)


def checkpoints(num: int, rng: np.random.Generator) -> Iterator[Row]:
    steps = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    away = steps - steps.mean()
    weights = away * (steps[-1] - steps[0]) / (away**2).sum()
    for words, climb in (("flat", np.full(5, 0.6)), ("from 2 to 98 %", np.linspace(0.02, 0.98, 5))):
        for size in (10, 50):
            x = rng.binomial(size, climb, (num, 5))
            own = wilson(x, size)
            found = [
                trend(steps, row / size, [*zip(low, high, strict=True)])
                for row, low, high in zip(x, own.lower, own.upper, strict=True)
            ]
            limits = ConfidenceLimits(*np.array([one for _, one in found]).T)
            truth = float((weights * climb).sum())
            yield "trend", f"5 checkpoints of {size} rollouts, {words}", holds(limits, truth)


# ---- watching -----------------------------------------------------------------------------------


def watching(num: int, rng: np.random.Generator) -> Iterator[Row]:
    looks = np.arange(1, 201)
    for p, q in ((0.5, 0.5), (0.3, 0.7), (0.9, 0.97)):
        a, b = rng.random((2, num, 200)) < np.array([p, q])[:, None, None]
        wins, losses = (b & ~a).cumsum(axis=1), (a & ~b).cumsum(axis=1)
        inside = np.ones(num, dtype=bool)
        for some in np.array_split(np.arange(num), max(num // 50, 1)):
            found = watched_interval(wins[some], losses[some], looks)
            inside[some] = ((found.lower <= q - p) & (q - p <= found.upper)).all(axis=1)
        yield "watching, at all of 200 looks", f"rates {p} and {q}", float(inside.mean())
    few = min(num, 500)
    for words, draw in (("rubric in quarters", rubric), ("9 of 10 scores are 0", mostly_nothing)):
        a, b = draw(rng, (few, 100)), draw(rng, (few, 100))
        inside = [
            all(
                found.lower <= 0 <= found.upper
                for found in (unrefuted_differences((y - x)[:k]) for k in range(5, 101, 5))
            )
            for x, y in zip(a, b, strict=True)
        ]
        case = f"{words}, 20 looks ({few} experiments)"
        yield "watching scores", case, float(np.mean(inside))


# ---- partial credit -----------------------------------------------------------------------------


def rubric(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.choice([0, 0.25, 0.5, 0.75, 1.0], shape, p=[0.2, 0.1, 0.2, 0.2, 0.3])


def mostly_nothing(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.choice([0, 0.3, 1.0], shape, p=[0.9, 0.07, 0.03])


def smooth(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.beta(2, 1, shape)


SHAPES: dict[str, tuple[Callable[..., np.ndarray], float]] = {
    "rubric in quarters": (rubric, 0.575),
    "9 of 10 scores are 0": (mostly_nothing, 0.051),
    "smooth progress": (smooth, 2 / 3),
}


def scores(num: int, rng: np.random.Generator) -> Iterator[Row]:
    for words, (draw, mean) in SHAPES.items():
        for size in (10, 50):
            found = mean_interval(draw(rng, (num, size)))
            yield "Gaffke, mean score", f"{size} rollouts, {words}", holds(found, mean)
        common = draw(rng, (num, 30))
        turn = rng.random((num, 30)) < 0.5
        first = np.where(turn, common, draw(rng, (num, 30)))
        found = paired_difference_interval(first, common)
        yield "Gaffke, pairs", f"30 pairs, half of them alike, {words}", holds(found, 0.0)
        for name, totals in (("balanced", BALANCED), ("unbalanced", UNBALANCED)):
            weights = common_weights(totals)
            case = f"3 tasks of 20, {name}, {words}"
            # The second task counts twice as far from 0, the third is full credit in half.
            scale, full = np.array([0.5, 1.0, 1.0]), np.array([0.0, 0.0, 0.5])
            means = (1 - full) * scale * mean + full
            sides = [
                [
                    np.where(rng.random((num, n)) < f, 1.0, s * draw(rng, (num, n)))
                    for n, s, f in zip(side, scale, full, strict=True)
                ]
                for side in totals
            ]
            found = score_difference_by_task(sides[0], sides[1], weights)
            yield "Gaffke, difference by task", case, holds(found, 0.0)
            found = mean_by_task(sides[0], weights)
            yield "Gaffke, mean by task", case, holds(found, float((weights * means).sum()))


# ---- predictions, belief, preferences -----------------------------------------------------------


def predictions(num: int, rng: np.random.Generator) -> Iterator[Row]:
    """A judge that is good, one that knows nothing, one that is wrong in one direction."""
    judges: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "good": lambda y: np.clip(0.15 + 0.7 * y + rng.normal(0, 0.15, y.shape), 0, 1),
        "knows nothing": lambda y: rng.random(y.shape),
        "always too high": lambda y: np.clip(0.6 + 0.4 * y + rng.normal(0, 0.1, y.shape), 0, 1),
        "upside down": lambda y: np.clip(0.85 - 0.7 * y + rng.normal(0, 0.15, y.shape), 0, 1),
    }
    for words, judge in judges.items():
        for labelled, rate in ((20, 0.5), (20, 0.95), (100, 0.8)):
            found = []
            for _ in range(2):
                y = (rng.random((num, labelled + 500)) < rate).astype(float)
                # In twentieths: as many judges say it, and intervals of few numbers are fast.
                f = np.round(20 * judge(y)) / 20
                found.append(predicted_mean(y[:, :labelled], f[:, :labelled], f[:, labelled:]))
            case = f"judge {words}, {labelled} labelled, 500 not, rate {rate}"
            width, alone = (
                float((limits.upper - limits.lower).mean())
                for limits in (found[0].interval, found[0].labelled_interval)
            )
            case += f"; width {width / alone:.2f} of labels alone"
            yield "prediction-powered", case, holds(found[0].interval, rate)
            _, limits = predicted_difference(*found)
            yield "prediction-powered difference", case.split(";")[0], holds(limits, 0.0)


def belief(num: int, rng: np.random.Generator) -> Iterator[Row]:
    """Truths drawn from the prior, as a posterior promises; and fixed ones, as it does not."""
    few = min(num, 300)
    for words, from_prior in (("truth drawn from the prior", True), ("tasks 0.9, 0.5, 0.1", False)):
        inside = [[], []]
        for _ in range(few):
            own = []
            for name in ("a", "b"):
                rate = np.array([0.9, 0.5, 0.1])
                if from_prior:
                    mean, unlike = rng.random(2)
                    c = 1 / unlike - 1
                    rate = rng.beta(max(mean * c, 1e-9), max((1 - mean) * c, 1e-9), 3)
                n = np.array([20, 10, 5])
                own.append((rate, rate_posterior(name, rng.binomial(n, rate).tolist(), n.tolist())))
            low, high = central(own[0][1].mean, 0.95)
            inside[0].append(low <= own[0][0].mean() <= high)
            low, high = compare_rates(own[0][1], own[1][1]).interval
            inside[1].append(low <= own[1][0].mean() - own[0][0].mean() <= high)
        case = f"3 tasks of 20, 10, 5, {words} ({few} experiments)"
        yield "posterior, rate", case, float(np.mean(inside[0]))
        yield "posterior, difference", case, float(np.mean(inside[1]))


def preferences(num: int, rng: np.random.Generator) -> Iterator[Row]:
    few = min(num, 1_000)
    strength = np.array([-0.75, 0.0, 0.25, 0.5])
    for size in (10, 40):
        inside, of_pair = [], []
        for _ in range(few):
            votes = []
            for i in range(4):
                for j in range(i):
                    wins = rng.random(size) < 1 / (1 + np.exp(strength[j] - strength[i]))
                    votes += [Preference(str(i), str(j), str(i if w else j)) for w in wins]
            found = rank_by_preferences(votes)
            for one in found.policies:
                inside.append(one.interval[0] <= strength[int(one.policy)] <= one.interval[1])
            for pair in found.pairs:
                ahead = strength[int(pair.second)] - strength[int(pair.first)]
                of_pair.append(pair.interval[0] <= 1 / (1 + np.exp(-ahead)) <= pair.interval[1])
        case = f"4 policies, {size} comparisons of every two ({few} experiments)"
        yield "Bradley-Terry, strength", case, float(np.mean(inside))
        yield "Bradley-Terry, share of wins", case, float(np.mean(of_pair))


PARTS = {
    part.__name__: part
    for part in (
        rates,
        by_task,
        checkpoints,
        scores,
        predictions,
        belief,
        preferences,
        watching,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--experiments", type=int, default=2_000)
    asked = parser.parse_args()
    print("| interval | experiments | holds |\n|---|---|---|")
    for name in asked.parts or PARTS:
        for interval, case, share in PARTS[name](asked.experiments, np.random.default_rng(0)):
            print(f"| {interval} | {case} | {share:.3f} |", flush=True)


if __name__ == "__main__":
    main()
