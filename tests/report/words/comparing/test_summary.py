"""Verdicts in sentences."""

import pytest
from rollout_files.outcomes import write_policy

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.report.words.comparing.summary import doubts, policy_table, task_table, verdict


def said(*paths):
    """What is said of the first pair."""
    comparison = compare(read_outcomes(paths))
    return " ".join(verdict(comparison.pairs[0], comparison))


def test_a_winner_that_a_watcher_would_not_have_yet(tmp_path):
    old = write_policy(tmp_path / "o.csv", 30, 50)
    new = write_policy(tmp_path / "n.csv", 40, 50)
    sentences = said(old, new)
    assert "n is better than o: 80 % against 60 %" in sentences
    assert "it is not settled yet (e-value " in sentences
    assert ", 20 wanted)" in sentences


def test_cannot_tell_yet(tmp_path):
    a = write_policy(tmp_path / "a.csv", 14, 20)
    b = write_policy(tmp_path / "b.csv", 17, 20)
    sentences = said(a, b)
    assert (
        "Cannot tell b from a yet: 85 % against 70 %, difference 15 points (\u221211 to 39)"
        in sentences
    )
    assert "more rollouts each would settle it in half of all cases" in sentences
    assert "is better" not in sentences


@pytest.mark.parametrize(
    ("successes", "sentence"),
    [
        (
            0,
            "Cannot tell b from a: neither ever succeeded; a difference from \u221216 to 16 points",
        ),
        (
            20,
            "Cannot tell b from a: both always succeeded; a difference from \u221216 to 16 points",
        ),
        (
            10,
            "Cannot tell b from a: both succeeded in 50 %; a difference from \u221228 to 28 points",
        ),
    ],
)
def test_no_difference(tmp_path, successes, sentence):
    a, b = (write_policy(tmp_path / f"{name}.csv", successes, 20) for name in "ab")
    sentences = said(a, b)
    assert sentence in sentences
    assert "more rollouts" not in sentences


def test_a_policy_without_success(tmp_path):
    a = write_policy(tmp_path / "a.csv", 0, 20)
    b = write_policy(tmp_path / "b.csv", 15, 20)
    sentences = said(a, b)
    assert "b is better than a: 75 % against 0 %" in sentences
    assert "it was settled after 10 of each" in sentences
    assert "Steps are not compared: a never succeeded." in sentences


def test_a_difference_that_went_away(tmp_path):
    (tmp_path / "a.csv").write_text("success\n" + "0\n" * 12 + "1\n0\n1\n1\n" * 6)
    (tmp_path / "b.csv").write_text("success\n" + "1\n" * 12 + "0\n0\n1\n0\n" * 7)
    sentences = said(tmp_path / "a.csv", tmp_path / "b.csv")
    assert "Cannot tell a from b yet: 50 % against 48 %" in sentences
    assert (
        "it was settled for b after 8 of each, yet it is not clear over all. Something changed"
        in sentences
    )


def test_a_difference_too_small_to_settle(tmp_path):
    a = write_policy(tmp_path / "a.csv", 950, 1000)
    b = write_policy(tmp_path / "b.csv", 951, 1000)
    assert "even 10,000 more rollouts each would not settle it" in said(a, b)


# ---- looked at while rollouts came in ------------------------------------------------------------


def write_successes(path, succeeded):
    path.write_text("success\n" + "".join(f"{int(one)}\n" for one in succeeded))
    return path


def test_sides_that_changed_are_said(tmp_path):
    """A wins the first 15 pairs and B 60 later ones: at 8 it was settled, but for A."""
    ends = [True, False] * 6
    a = write_successes(tmp_path / "A.csv", [True] * 15 + [False] * 60 + ends)
    b = write_successes(tmp_path / "B.csv", [False] * 15 + [True] * 60 + ends[::-1])
    sentences = said(a, b)
    assert "B is better than A: 76 % against 24 %" in sentences
    assert (
        "But sides changed: looking after every rollout, it was settled for A after 8" in sentences
    )
    assert "That stands" not in sentences
    comparison = compare(read_outcomes([a, b]))
    watched = comparison.pairs[0].watched
    assert (watched.settled_at, watched.settled_for, watched.stands) == (8, "A", False)
    assert 40 < watched.turned_at < 70


def test_what_the_last_rollout_settled_is_settled(tmp_path):
    """16 of 18 pairs that one alone won are B's, the last of them with the last rollout."""
    both = [True, False] * 8
    a = write_successes(tmp_path / "A.csv", [*both, *[True] * 3, *both, *[False] * 12])
    b = write_successes(tmp_path / "B.csv", [*both, *[False] * 3, *both, *[True] * 12])
    pair = compare(read_outcomes([a, b])).pairs[0]
    assert pair.better is None
    assert pair.watched.settled_at is None
    a = write_successes(tmp_path / "A.csv", [*both, *both, *[False] * 8])
    b = write_successes(tmp_path / "B.csv", [*both, *both, *[True] * 8])
    pair = compare(read_outcomes([a, b])).pairs[0]
    assert pair.watched.settled_at == pair.watched.num_pairs == 40
    assert (pair.better, pair.adjusted_p_value > 0.05) == (None, True)
    sentences = said(a, b)
    assert (
        "B is better than A for whoever looked after every rollout: 60 % against 40 %" in sentences
    )
    assert "settled after 40 of each, the last ones." in sentences
    assert "fixed beforehand and nobody looked, it is not clear (p = 0." in sentences
    assert "Cannot tell" not in sentences
    assert "Something changed" not in sentences


def test_one_rollout_of_each_says_nothing_about_how_many_more(tmp_path):
    sentences = said(
        write_successes(tmp_path / "a.csv", [True]), write_successes(tmp_path / "b.csv", [False])
    )
    assert "With fewer than 10 rollouts of each nobody can say how many more" in sentences
    assert "more rollouts each" not in sentences


# ---- tasks ---------------------------------------------------------------------------------------


def by_task(tmp_path, counts):
    """A table of counts: policy, task -> successes and rollouts."""
    rows = "".join(f"{policy},{task},{x},{n}\n" for (policy, task), (x, n) in counts.items())
    (tmp_path / "all.csv").write_text("policy,task,successes,rollouts\n" + rows)
    return compare(read_outcomes([tmp_path / "all.csv"]))


def test_sentence_table_letters_and_order_speak_of_one_estimate(tmp_path):
    """B met the easy task five times as often: its raw rate is higher, and it is worse at both."""
    found = by_task(
        tmp_path,
        {
            ("A", "easy"): (96, 100),
            ("A", "hard"): (300, 500),
            ("B", "easy"): (400, 500),
            ("B", "hard"): (20, 100),
        },
    )
    assert verdict(found.pairs[0], found)[0].startswith(
        "A is better than B: 78.0 % against 50.0 %, difference 28.0 points (22.6 to 32.7)"
    )
    table = policy_table(found)
    assert table.columns[:5] == ("letters", "success by task", "95 % interval", "of", "raw rate")
    shown = {name: [cell.plain() for cell in cells] for name, cells in table.rows}
    assert list(shown) == ["A", "B"]
    assert shown["A"][:2] == ["a", "78.0 %"]
    assert shown["B"][:2] == ["b", "50.0 %"]
    assert (shown["A"][4], shown["B"][4]) == ("66.0 %", "70.0 %")
    low, high = found.policies[0].rate_interval
    assert low < 0.78 < high


OPPOSITE = {
    ("A", "cup"): (38, 40),
    ("B", "cup"): (20, 40),
    ("A", "fork"): (10, 40),
    ("B", "fork"): (35, 40),
    ("A", "box"): (20, 40),
    ("B", "box"): (22, 40),
}


def test_opposite_effects_are_not_pooled_without_a_word(tmp_path):
    found = by_task(tmp_path, OPPOSITE)
    (words,) = doubts(found.pairs[0], found)
    assert words.startswith(
        "Tasks go both ways: B is better on fork (35 of 40 against 10 of 40, p <"
    )
    assert "; A is better on cup (38 of 40 against 20 of 40, p < 0.001)" in words
    # Enough more of the third task, and one of them is better on average, which hides it.
    found = by_task(tmp_path, OPPOSITE | {("A", "box"): (100, 400), ("B", "box"): (300, 400)})
    assert found.pairs[0].better == "B"
    (words,) = doubts(found.pairs[0], found)
    assert words.startswith('That "better" is on average, and hides opposite effects: B is better')


def test_tasks_that_tell_most_come_first(tmp_path):
    table = task_table(by_task(tmp_path, OPPOSITE))
    assert [name for name, _ in table.rows] == ["fork", "cup", "box"]
    assert [cells[-1].plain() for _, cells in table.rows] == ["B", "A", ""]
    assert [cells[2].plain() for _, cells in table.rows] == ["62", "\u221245", "5"]


def test_effects_alike_in_all_tasks_raise_no_doubt(tmp_path):
    alike = {(p, t): (20 + 10 * (p == "B"), 40) for p in "AB" for t in ("cup", "fork", "box")}
    found = by_task(tmp_path, alike)
    assert found.pairs[0].better == "B"
    assert doubts(found.pairs[0], found) == []
    assert found.pairs[0].equal_effects.p_value > 0.9


def test_unlike_effects_allow_for_the_number_of_pairs(tmp_path):
    """Of one pair p = 0.035 is a doubt; of three it may be luck."""
    two = {("A", "x"): (24, 40), ("A", "y"): (20, 40), ("B", "x"): (20, 40), ("B", "y"): (29, 40)}
    found = by_task(tmp_path, two)
    (words,) = doubts(found.pairs[0], found)
    assert words.startswith("The difference is not the same in all tasks (Breslow-Day, p = 0.035)")
    found = by_task(tmp_path, two | {("C", "x"): (22, 40), ("C", "y"): (24, 40)})
    assert found.pairs[0].equal_effects.p_value < 0.05
    assert doubts(found.pairs[0], found) == []


# ---- bases ---------------------------------------------------------------------------------------


def test_paired_rates_are_over_the_shared_states_everywhere(tmp_path):
    a = write_policy(tmp_path / "a.csv", 20, 40, initial_state=lambda i: i)
    b = write_policy(tmp_path / "b.csv", 20, 60, initial_state=lambda i: i + 10)
    found = compare(read_outcomes([a, b]), paired=True)
    pair = found.pairs[0]
    # Of the 30 shared states a solved those from 10 to 19 and b those from 10 to 29.
    assert (pair.first_rate, pair.second_rate) == pytest.approx((10 / 30, 20 / 30))
    assert [p.rate for p in found.policies] == [pair.first_rate, pair.second_rate]
    assert [p.raw_rate for p in found.policies] == pytest.approx([0.5, 1 / 3])
    assert policy_table(found).columns[4] == "raw rate"


def test_a_pair_over_states_of_its_own_says_so(tmp_path):
    """A against B on ten states, B against C on ten others."""
    for name, states in (("A", range(10)), ("B", range(20)), ("C", range(10, 20))):
        rows = "".join(f"{s},{(s * 7 + ord(name)) % 3 > 0:d}\n" for s in states)
        (tmp_path / f"{name}.csv").write_text(f"initial_state,success\n{rows}")
    found = compare(read_outcomes([tmp_path / f"{n}.csv" for n in "ABC"]), paired=True)
    assert [pair.paired for pair in found.pairs] == [True, False, True]
    assert [pair.num_pairs for pair in found.pairs] == [10, 10, 10]
    assert "from the 10 initial states that both share" in verdict(found.pairs[0], found)[0]
    assert "states" not in verdict(found.pairs[1], found)[0]
