"""A ranking by preferences, in words."""

from goalward.metrics.comparing.preferences import PairPreference, PreferenceRanking
from goalward.report.words.blocks import Block, Document, Section, Spans, paragraph, spans, strong
from goalward.report.words.comparing.numbers import plain_p, signed
from goalward.report.words.comparing.tables import between, cells
from goalward.report.words.tables import Table


def preference_document(ranking: PreferenceRanking, most_pairs: int | None = None) -> Document:
    """Who is preferred to whom, then strengths and places; of many pairs the clearest."""
    clearest = sorted(ranking.pairs, key=lambda pair: pair.adjusted_p_value)[:most_pairs]
    answers: list[Block] = [paragraph(_verdict(pair), role="answer") for pair in clearest]
    left = len(ranking.pairs) - len(clearest)
    if left:
        answers.append(paragraph(f"{left:,} more pairs are in the JSON."))
    level = f"{100 * ranking.level:g} % interval"
    rows = [
        (
            one.policy,
            cells(
                [
                    f"{one.places[0]} to {one.places[1]}"
                    if one.places[0] < one.places[1]
                    else f"{one.places[0]}",
                    signed(one.log_strength, 2),
                    between(one.interval, 1, 2),
                    f"{one.wins}",
                    f"{one.losses}",
                    f"{one.ties}",
                ]
            ),
        )
        for one in ranking.policies
    ]
    head = ("place", "log strength", level, "won", "lost", "tied")
    how = (
        f"{ranking.num_comparisons} comparisons of two policies each. Bradley and Terry's model, "
        "with Davidson's ties; p-values: for all pairs at once, by Holm. A place that cannot be "
        "told is a range."
    )
    if ranking.tie_chance:
        how += f" Two equally strong policies tie in {100 * ranking.tie_chance:.0f} % of cases."
    return Document(
        "Preferences between policies",
        (
            Section("", tuple(answers)),
            Section("Policies", (Table("policy", head, tuple(rows)),)),
            Section("How", (paragraph(how),)),
        ),
    )


def _verdict(pair: PairPreference) -> Spans:
    share, (low, high) = pair.second_wins, pair.interval
    best, rest = pair.second, pair.first
    if share < 0.5:
        best, rest, share, low, high = rest, best, 1 - share, 1 - high, 1 - low
    start = f"{best} is preferred to {rest}"
    if pair.preferred is None:
        start = f"Cannot tell whether {best} or {rest} is preferred"
    return spans(
        strong(f"{start}:"),
        f" {best} wins {100 * share:.0f} % of the comparisons that either wins "
        f"({100 * low:.0f} to {100 * high:.0f} %), {plain_p(pair.adjusted_p_value)}.",
    )
