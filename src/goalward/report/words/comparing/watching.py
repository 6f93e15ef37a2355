"""What is said to those who looked while rollouts came in, and about how many more it takes."""

from goalward.metrics.comparing.result import Comparison, PairComparison
from goalward.metrics.comparing.sample_size import LEAST_ROLLOUTS, MOST_ROLLOUTS
from goalward.report.words.comparing.numbers import about, p_words

_CHANGED = (
    "Something changed while rollouts came in (the policies, the scene, the tasks, the order of "
    "rows), and neither answer is to be relied on."
)


def watched_sentences(pair: PairComparison) -> list[str]:
    """Whether a winner stands for someone who looked, and was the winner then, too."""
    watched = pair.watched
    if watched is None:
        return []
    if watched.settled_at is None:
        return [
            "That stands if the number of rollouts was fixed beforehand. For someone who looked "
            "after every rollout, to stop when it was clear, it is not settled yet (e-value "
            f"{watched.e_value:.3g}, {watched.wanted_e_value:.0f} wanted)."
        ]
    if watched.settled_for != pair.better:
        return [
            f"But sides changed: looking after every rollout, it was settled for "
            f"{watched.settled_for} after {watched.settled_at} of each. {_CHANGED}"
        ]
    if watched.turned_at is not None:
        return [
            f"But sides changed: looking after every rollout, it was settled for {pair.better} "
            f"after {watched.settled_at} of each, and for the other after {watched.turned_at}. "
            f"{_CHANGED}"
        ]
    return [
        "That stands however often somebody looked: looking after every rollout, it was "
        f"settled after {watched.settled_at} of each."
    ]


def stands_for_watchers(pair: PairComparison, best: str) -> bool:
    """Whether the watching test decided for the policy that is ahead, and still does."""
    watched = pair.watched
    return (
        watched is not None
        and watched.stands
        and watched.turned_at is None
        and watched.settled_for == best
    )


def watcher_verdict(
    pair: PairComparison, best: str, rest: str, shown: str, comparison: Comparison
) -> list[str]:
    """A difference that the watching test found and the one for a fixed number did not."""
    watched = pair.watched
    assert watched is not None
    last = ", the last ones" if watched.settled_at == watched.num_pairs else ""
    return [
        f"{best} is better than {rest} for whoever looked after every rollout: {shown}, settled "
        f"after {watched.settled_at} of each{last}.",
        "If the number of rollouts was fixed beforehand and nobody looked, it is not clear "
        f"({p_words(pair.adjusted_p_value, comparison)}), and letters go by that test.",
    ]


def more_rollouts(pair: PairComparison) -> list[str]:
    """How much more it takes, where that can be said."""
    watched = pair.watched
    if watched is not None and watched.settled_at is not None:
        return [
            f"Looking after every rollout, it was settled for {watched.settled_for} after "
            f"{watched.settled_at} of each, yet it is not clear over all. {_CHANGED}"
        ]
    if pair.too_few:
        return [
            f"With fewer than {LEAST_ROLLOUTS} rollouts of each nobody can say how many more it "
            "takes."
        ]
    more, anew = pair.until_settled, pair.rollouts_for_power
    sentences: list[str] = []
    if more is not None and more.median is not None:
        late = f"about {about(more.nine_in_ten)}" if more.nine_in_ten else f"over {MOST_ROLLOUTS:,}"
        sentences.append(
            f"If these rates hold, about {about(more.median)} more rollouts each would settle it "
            f"in half of all cases, {late} in nine of ten, looking after every rollout."
        )
    if anew is not None:
        sentences.append(
            f"A new comparison would need about {about(anew)} each to see it in four of five cases."
        )
    return sentences or [
        f"If these rates hold, even {MOST_ROLLOUTS:,} more rollouts each would not settle it in "
        "half of all cases."
    ]


def budget_sentences(pair: PairComparison, best: str, rest: str, shown: str) -> list[str]:
    """The verdict where rollouts end with a known number of each."""
    test = pair.budget
    assert test is not None
    of = f"{test.budget} of each"
    if test.settled_for is not None:
        loser = pair.first if test.settled_for == pair.second else pair.second
        sentences = [
            f"{test.settled_for} is better than {loser}: settled after {test.settled_at} of at "
            f"most {of}, looking after every rollout; {shown}."
        ]
        if test.settled_for != best and pair.difference != 0:
            sentences.append(f"But {best} is ahead over all rollouts of the table. {_CHANGED}")
        return sentences
    ahead = f"{best} leads {rest}" if pair.difference else f"{best} and {rest} are level"
    ended = test.num_pairs >= test.budget
    if ended:
        return [
            f"Cannot tell {best} from {rest} with {of}: {shown}. The budget is spent; to go on "
            "with this test is not allowed."
        ]
    needed = (
        "no lead would be enough yet"
        if test.wanted_lead is None
        else f"one policy alone won {abs(test.lead)} more pairs than the other, {test.wanted_lead} "
        "wanted now"
    )
    sentences = [
        f"Cannot tell {best} from {rest} yet, after {test.num_pairs} of {of}: {shown}.",
        f"{ahead}; {needed}.",
    ]
    if test.chance is not None:
        sentences.append(
            f"If these rates hold, it is settled by {test.budget} in {100 * test.chance:.0f} % of "
            "all cases."
        )
    return sentences
