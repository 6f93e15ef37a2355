"""Compact letters against published examples and against their definition."""

import itertools
import string

import numpy as np
import pytest

from goalward.metrics.uncertainty.letters import compact_letters


def pairs(*texts):
    return {frozenset(text.split()) for text in texts}


def test_piepho_2004_example_3():
    """Piepho, J. Comp. Graph. Stat. 13 (2004) 456, Example 3: eight treatments, five pairs differ.

    Insert and absorb ends with the largest groups in which no pair differs; here all six of them.
    """
    names = [f"T{i}" for i in range(1, 9)]
    differs = pairs("T1 T7", "T1 T8", "T2 T4", "T2 T5", "T3 T5")
    groups = ["1236", "1346", "1456", "23678", "34678", "45678"]
    expected = {
        f"T{i}": "".join(
            letter
            for letter, group in zip(string.ascii_lowercase, groups, strict=False)
            if str(i) in group
        )
        for i in range(1, 9)
    }
    assert compact_letters(names, differs) == expected


def test_gramm_2007_figure_2():
    """Gramm et al., Comp. Stat. Data Anal. 52 (2007) 725, Fig. 2: H = {15, 23, 25, 35}."""
    letters = compact_letters(list("12345"), pairs("1 5", "2 3", "2 5", "3 5"))
    assert letters == {"1": "ab", "2": "a", "3": "b", "4": "abc", "5": "c"}


def test_multcompview_example():
    """The help page of multcompLetters (R package multcompView): only B and C differ."""
    letters = compact_letters(["A", "B", "C"], pairs("B C"))
    assert letters == {"A": "ab", "B": "a", "C": "b"}


def test_a_matrix_says_the_same_as_pairs():
    matrix = np.zeros((3, 3), dtype=bool)
    matrix[1, 2] = matrix[2, 1] = True
    names = ["A", "B", "C"]
    assert compact_letters(names, matrix) == compact_letters(names, pairs("B C"))


def test_the_best_gets_the_first_letter():
    letters = compact_letters(["bad", "mid", "best"], pairs("bad best"), ["best", "mid", "bad"])
    assert letters == {"bad": "b", "mid": "ab", "best": "a"}


def test_all_alike_all_different_and_nobody():
    assert compact_letters(["x", "y"], set()) == {"x": "a", "y": "a"}
    assert compact_letters(["x", "y", "z"], pairs("x y", "x z", "y z")) == {
        "x": "a",
        "y": "b",
        "z": "c",
    }
    assert compact_letters(["x"], set()) == {"x": "a"}
    assert compact_letters([], set()) == {}


@pytest.mark.parametrize("seed", range(20))
def test_names_share_a_letter_exactly_if_they_do_not_differ(seed):
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((7, 7)) < rng.random(), 1)
    matrix = matrix | matrix.T
    names = list("pqrstuv")
    letters = compact_letters(names, matrix, rng.permutation(names).tolist())
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        assert bool(set(letters[a]) & set(letters[b])) != matrix[i, j]


def test_more_letters_than_the_alphabet():
    """14 pairs that differ within: two to the power of seven groups."""
    names = [f"{side}{i}" for i in range(7) for side in "lr"]
    letters = compact_letters(names, pairs(*(f"l{i} r{i}" for i in range(7))))
    assert "(128)" in letters["r6"]
    assert all(letters.values())


@pytest.mark.parametrize(
    ("names", "differs", "order"),
    [
        (["x", "x"], set(), None),
        (["x", "y"], set(), ["x"]),
        (["x", "y"], {frozenset({"x", "other"})}, None),
        (["x", "y"], {frozenset({"x"})}, None),
        (["x", "y"], np.array([[False, True], [False, False]]), None),
        (["x", "y"], np.zeros((3, 3), dtype=bool), None),
    ],
)
def test_wrong_input(names, differs, order):
    with pytest.raises(ValueError):
        compact_letters(names, differs, order)
