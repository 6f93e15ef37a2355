"""Shares of the work: nothing twice, nothing left out, and what is no share."""

import pytest

from goalward.errors import GoalwardError, speaking_of_flags
from goalward.executors.shard import Shard


@pytest.mark.parametrize("count", [1, 2, 3, 16, 40])
def test_all_shards_together_have_everything_once(count):
    shares = [list(Shard(number, count).share(range(37))) for number in range(1, count + 1)]
    assert sorted(item for share in shares for item in share) == list(range(37))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    for number, share in enumerate(shares, start=1):
        assert [position for position in range(37) if Shard(number, count).has(position)] == share


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("17/16", "there are 16 shards, numbered 1 to 16"),
        ("0/16", "there are 16 shards, numbered 1 to 16"),
        ("1/0", "there are 0 shards, which is none"),
        ("3", "write which shard of how many, as in 3/16"),
        ("-1/4", "write which shard of how many, as in 3/16"),
        ("a/b", "write which shard of how many, as in 3/16"),
        ("1/2/3", "write which shard of how many, as in 3/16"),
        ("", "write which shard of how many, as in 3/16"),
    ],
)
def test_what_is_no_shard(text, problem):
    with speaking_of_flags(True), pytest.raises(GoalwardError) as refused:
        Shard.of(text)
    assert str(refused.value).startswith("--shard ")
    assert str(refused.value).endswith(problem)


def test_names_of_files_sort_in_the_order_of_shards():
    names = [Shard(number, 16).file_part for number in (2, 16, 1)]
    assert sorted(names) == ["shard-01-of-16", "shard-02-of-16", "shard-16-of-16"]
