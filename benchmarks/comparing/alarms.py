"""How often the tests of `goalward compare` see a difference that is not there, at 5 %.

    python benchmarks/comparing/alarms.py                   # all
    python benchmarks/comparing/alarms.py sequential --experiments 1000

Prints the rows of the table in docs/comparing.md: test, experiments, false alarms. 2,000
experiments a cell for tests of a fixed number, 10,000 for those that are looked at after every pair
of rollouts.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from intervals import BALANCED, UNBALANCED, mostly_nothing, rubric

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.partial_credit.permutation import permutation_test, sign_flip_test
from goalward.metrics.comparing.partial_credit.watching import log_e_values
from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.metrics.comparing.rates.exact_tests import mcnemar_test, stratified_test
from goalward.metrics.comparing.steps.time_to_success import log_rank, success_times
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)
from goalward.metrics.comparing.tasks.heterogeneity import equal_odds
from goalward.metrics.comparing.watching.budget import wanted_leads
from goalward.metrics.comparing.watching.sequential import log_e_value
from goalward.rollouts.episode import Outcome

Row = tuple[str, str, float]
ALPHA = 0.05
_ENDED = {True: Outcome.SUCCESS, False: Outcome.TIME_OUT}


# ---- a fixed number of rollouts -----------------------------------------------------------------


def fixed(num: int, rng: np.random.Generator) -> Iterator[Row]:
    for rate in (0.05, 0.5, 0.9):
        for m, n in ((20, 15), (50, 50), (200, 50)):
            sizes = np.full(num, m), np.full(num, n)
            x1, x2 = (rng.binomial(size, rate) for size in sizes)
            p = boschloo_tests(x1, sizes[0], x2, sizes[1])
            yield "Boschloo", f"{m} and {n} rollouts, rate {rate}", float((p <= ALPHA).mean())
    first = np.array([0.9, 0.5, 0.1])
    for name, (n1, n2) in (("balanced", BALANCED), ("unbalanced", UNBALANCED)):
        draws = zip(
            rng.binomial(n1, first, (num, 3)).tolist(),
            rng.binomial(n2, first, (num, 3)).tolist(),
            strict=True,
        )
        alarms = [stratified_test(x1, n1, x2, n2) <= ALPHA for x1, x2 in draws]
        case = f"3 tasks of 20, {name}, rates 0.9, 0.5, 0.1"
        yield "Cochran-Mantel-Haenszel", case, float(np.mean(alarms))
    for hard in (0.0, 0.5, 0.9):
        a, b = dependent_starts(rng, num, 50, hard)
        counts = zip((a & ~b).sum(axis=1).tolist(), (b & ~a).sum(axis=1).tolist(), strict=True)
        alarms = [mcnemar_test(*count) <= ALPHA for count in counts]
        yield "McNemar", f"50 starts, {_dependent(hard)}", float(np.mean(alarms))
        sizes = np.full(num, 50)
        p = boschloo_tests(a.sum(axis=1), sizes, b.sum(axis=1), sizes)
        case = f"50 starts, {_dependent(hard)}"
        yield "Boschloo, as if not paired", case, float((p <= ALPHA).mean())


def dependent_starts(
    rng: np.random.Generator, num: int, size: int, hard: float
) -> tuple[np.ndarray, np.ndarray]:
    """Successes of two equal policies; a share `hard` of what decides is the start."""
    start, luck = rng.random((num, size)), rng.random((2, num, size))
    by_start = rng.random((num, size)) < hard
    a, b = np.where(by_start, start, luck) < 0.6
    return a, b


def _dependent(hard: float) -> str:
    return f"{100 * hard:.0f} % of outcomes decided by the start"


def effects(num: int, rng: np.random.Generator) -> Iterator[Row]:
    """Whether an effect is the same in all tasks: here it is."""
    few = min(num, 1_000)
    odds = np.array([4.0, 1.0, 0.25])
    rates = [odds / (1 + odds), 2 * odds / (1 + 2 * odds)]
    for name, (n1, n2) in (
        ("5 each", ((5,) * 3, (5,) * 3)),
        ("20, balanced", BALANCED),
        ("20, unbalanced", UNBALANCED),
        ("100 each", ((100,) * 3, (100,) * 3)),
    ):
        alarms = []
        for _ in range(few):
            x1, x2 = rng.binomial(n1, rates[0]).tolist(), rng.binomial(n2, rates[1]).tolist()
            p = equal_odds(x1, n1, x2, n2, num_draws=999).p_value
            alarms.append(p is not None and p <= ALPHA)
        case = f"3 tasks of {name}, odds doubled in all ({few} experiments)"
        yield "equal effects (Breslow-Day or Zelen)", case, float(np.mean(alarms))


def steps(num: int, rng: np.random.Generator) -> Iterator[Row]:
    """Time to success of two policies that are equally good and equally fast."""
    few = min(num, 1_000)
    alarms = []
    for _ in range(few):
        sides = []
        for size in (40, 20):
            needed = np.where(rng.random(size) < 0.7, rng.gamma(4, 30, size).round() + 1, np.inf)
            outcomes = [_ENDED[bool(n <= 200)] for n in needed]
            sides.append(success_times(outcomes, np.minimum(needed, 200).astype(int).tolist(), 200))
        p = log_rank(*sides)
        alarms.append(p is not None and p <= ALPHA)
    yield "log-rank", f"40 and 20 rollouts ({few} experiments)", float(np.mean(alarms))


def scores(num: int, rng: np.random.Generator) -> Iterator[Row]:
    few = min(num, 1_000)
    shapes = {"rubric in quarters": rubric, "9 of 10 scores are 0": mostly_nothing}
    for words, draw in shapes.items():
        for name, totals in (("balanced", BALANCED), ("unbalanced", UNBALANCED)):
            scale = (0.5, 1.0, 1.0)
            alarms = [
                permutation_test(
                    *(
                        [s * draw(rng, (n,)) for n, s in zip(side, scale, strict=True)]
                        for side in totals
                    )
                ).p_value
                <= ALPHA
                for _ in range(few)
            ]
            case = f"3 tasks of 20, {name}, {words} ({few} experiments)"
            yield "permutations within tasks", case, float(np.mean(alarms))
        alarms = []
        for _ in range(few):
            start, a, b = draw(rng, (3, 40))
            turn = rng.random(40) < 0.5
            a, b = np.where(turn, start, a), np.where(turn, start, b)
            alarms.append(sign_flip_test(a, b).p_value <= ALPHA)
        case = f"40 starts that decide half of all scores, {words} ({few} experiments)"
        yield "sign flips", case, float(np.mean(alarms))
    # Equal means, unlike spreads: not what a permutation test promises anything about.
    for m, n in ((30, 30), (60, 20), (20, 60)):
        alarms = [
            permutation_test([np.full(m, 0.5)], [rng.integers(0, 2, n).astype(float)]).p_value
            <= ALPHA
            for _ in range(few)
        ]
        case = f"{m} scores of 0.5 against {n} of 0 or 1, equal means ({few} experiments)"
        yield "permutations", case, float(np.mean(alarms))


def families(num: int, rng: np.random.Generator) -> Iterator[Row]:
    """Any false verdict anywhere, of the whole comparison: pairs, tasks, checkpoints."""
    few = min(num, 300)
    any_pair, any_task, worse = [], [], []
    for _ in range(few):
        policies = [
            _policy(f"step_{k}", {"a": rng.random(20) < 0.8, "b": rng.random(10) < 0.3})
            for k in range(1, 5)
        ]
        found = compare(OutcomeTable(tuple(policies)), ordered=True)
        any_pair.append(any(pair.better for pair in found.pairs))
        any_task.append(any(task.better for pair in found.pairs for task in pair.tasks))
        assert found.checkpoints is not None
        worse.append(bool(found.checkpoints.regressions))
    case = f"4 equal policies in 2 tasks ({few} experiments)"
    yield "any pair told apart (Holm)", case, float(np.mean(any_pair))
    yield "any task told apart (Holm)", case, float(np.mean(any_task))
    yield "any checkpoint worse than the one before", case, float(np.mean(worse))


def _policy(name: str, by_task: dict[str, np.ndarray]) -> PolicyOutcomes:
    episodes = [
        EpisodeOutcome(f"{task}{i}", _ENDED[bool(won)], None, task, None, None, "")
        for task, row in by_task.items()
        for i, won in enumerate(row)
    ]
    return PolicyOutcomes(name, tuple(episodes))


# ---- looking after every pair of rollouts -------------------------------------------------------


def sequential(num: int, rng: np.random.Generator) -> Iterator[Row]:
    for rate in (0.05, 0.5, 0.95):
        a, b = rng.random((2, num, 500)) < rate
        yield "watching", f"500 looks, rate {rate}", _watched(a, b)
        yield "budget of 200", f"200 looks, rate {rate}", _budget(a[:, :200], b[:, :200])
    for hard in (0.5, 0.9):
        a, b = dependent_starts(rng, num, 200, hard)
        case = f"200 looks, {_dependent(hard)}"
        yield "watching", case, _watched(a, b)
        yield "budget of 200", case, _budget(a, b)
    # Unbalanced tasks one after the other, and rates that drift: easy first, hard last.
    rate = np.repeat([0.95, 0.5, 0.1], (120, 60, 20))
    a, b = rng.random((2, num, 200)) < rate
    yield "watching", "200 looks, easy tasks first, hard ones last", _watched(a, b)
    yield "budget of 200", "200 looks, easy tasks first, hard ones last", _budget(a, b)
    for words, draw in (("rubric in quarters", rubric), ("9 of 10 scores are 0", mostly_nothing)):
        a, b = draw(rng, (num, 200)), draw(rng, (num, 200))
        yield "watching scores", f"200 looks, {words}", _watched_scores(a, b)
        turn = rng.random((num, 200)) < 0.5
        case = f"200 looks, {words}, half of them decided by the start"
        yield "watching scores", case, _watched_scores(a, np.where(turn, a, b))
    a = np.full((num, 200), 0.5)
    b = rng.integers(0, 2, (num, 200)).astype(float)
    case = "200 looks, 0.5 against 0 or 1, equal means"
    yield "watching scores", case, _watched_scores(a, b)


def _watched(a: np.ndarray, b: np.ndarray) -> float:
    e = log_e_value((b & ~a).cumsum(axis=1), (a & ~b).cumsum(axis=1))
    return float((e >= -np.log(ALPHA)).any(axis=1).mean())


def _watched_scores(a: np.ndarray, b: np.ndarray) -> float:
    return float((log_e_values(b - a) >= -np.log(ALPHA)).any(axis=1).mean())


def _budget(a: np.ndarray, b: np.ndarray) -> float:
    alarms = []
    for one, other in zip(*(np.array_split(side, 10) for side in (a, b)), strict=True):
        lead = np.cumsum(other.astype(int) - one.astype(int), axis=1)
        alarms.append((np.abs(lead) >= wanted_leads(one != other, 200, ALPHA)).any(axis=1))
    return float(np.concatenate(alarms).mean())


PARTS = {part.__name__: part for part in (fixed, effects, steps, scores, families, sequential)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--experiments", type=int)
    asked = parser.parse_args()
    print("| test | experiments | false alarms |\n|---|---|---|")
    for name in asked.parts or PARTS:
        num = asked.experiments or (10_000 if name == "sequential" else 2_000)
        for test, case, share in PARTS[name](num, np.random.default_rng(0)):
            print(f"| {test} | {case} | {share:.3f} |", flush=True)


if __name__ == "__main__":
    main()
