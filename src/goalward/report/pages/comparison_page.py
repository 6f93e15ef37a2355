"""The page of a comparison: verdict, rates, tasks, over rollouts, episodes side by side."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

from goalward.errors import command_line
from goalward.metrics.comparing.episode_pairs import EpisodePair, EpisodePairs
from goalward.metrics.comparing.result import Comparison
from goalward.report.pages import document_page
from goalward.report.pages.assets import INDEX
from goalward.report.pages.page_figures import page_figure
from goalward.report.words.comparing.summary import comparison_document
from goalward.run_folder import RunFolder

# What turns two addresses of episodes into two players that move as one.
_BESIDE = "beside.html"
# More links than these are folded away.
_FEW = 12
_WATCHED = (
    "What somebody saw who looked after every rollout, with the right to stop when the line "
    "reaches the dashed one. On the right the difference with an interval that holds at all looks "
    "at once."
)
# What is known of the starts of two episodes that are shown side by side.
_BEGUN = {
    True: "that started alike",
    False: "of the same task, not paired by where they started",
    None: "of the same task; whether they started alike is not known",
}
_OUTCOMES = {"success": "success", "time_out": "time-out", "failure": "failure"}


@dataclass(frozen=True)
class Figures:
    """Names of the pictures beside the page, without an ending."""

    rates: str
    watching: str | None
    narrow: bool = False


def write_comparison_page(
    comparison: Comparison,
    figures: Figures,
    folder: Path,
    runs: Mapping[str, Path],
    together: Sequence[EpisodePairs] = (),
) -> Path:
    """Write the page and its styles; policies that are runs link to their own reports."""
    page = page_of(comparison, figures, links_to(runs, folder), runs, together)
    return document_page.write_page(page, folder)


def links_to(runs: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Addresses of the reports of runs, as seen from a folder; only of those that are there."""
    return {
        name: quote(_path_to(RunFolder(path).report, folder))
        for name, path in runs.items()
        if (RunFolder(path).report / INDEX).is_file()
    }


def _path_to(report: Path, folder: Path) -> str:
    return Path(os.path.relpath(report.resolve(), folder.resolve())).as_posix()


def page_of(
    comparison: Comparison,
    figures: Figures,
    reports: Mapping[str, str],
    runs: Mapping[str, Path],
    together: Sequence[EpisodePairs],
) -> str:
    """The whole page as HTML; names from files show as they are."""
    document = comparison_document(comparison)
    panels: list[str] = []
    for number, section in enumerate(document.sections[1:]):
        drawn = page_figure(figures.rates, "success rates", narrow=figures.narrow)
        panels.append(document_page.panel(section, "" if number else drawn))
        if number == 0 and figures.watching is not None:
            panels.append(_watching(figures.watching))
        if number == 0 and runs:
            panels.append(_episodes(reports, runs, together))
    names = [policy.policy for policy in comparison.best_first]
    return document_page.page_of(document, names, panels, "comparison")


def _watching(name: str) -> str:
    drawn = page_figure(name, "evidence over rollouts")
    return (
        f'<section class="panel"><h2>Over rollouts</h2><p class="how">{escape(_WATCHED)}</p>'
        f"{drawn}</section>"
    )


# ---- episodes -----------------------------------------------------------------------------------


def _episodes(
    reports: Mapping[str, str], runs: Mapping[str, Path], together: Sequence[EpisodePairs]
) -> str:
    """Links to the reports of runs, and of every two of them to their episodes side by side."""
    parts = ['<section class="panel"><h2>Episodes</h2>']
    missing = [path for name, path in runs.items() if name not in reports]
    if missing:
        parts.append(
            "<p>To see episodes, write the reports of the runs first, then compare again: "
            + ", ".join(f"<code>{escape(command_line('report', path))}</code>" for path in missing)
            + ".</p>"
        )
    if reports:
        links = "".join(
            f'<a class="small-button" href="{escape(report)}/{INDEX}#episodes">'
            f"{document_page.named(name)}</a>"
            for name, report in reports.items()
        )
        parts.append(
            '<p class="how">The episodes of each run, in its own report.</p>'
            f'<div class="words"><p class="links">{links}</p></div>'
        )
    parts += [
        _side_by_side(one, reports)
        for one in together
        if one.pairs and one.first in reports and one.second in reports
    ]
    return "".join(parts) + "</section>"


def _side_by_side(found: EpisodePairs, reports: Mapping[str, str]) -> str:
    heading = f"{document_page.named(found.first)} beside {document_page.named(found.second)}"
    told = (
        f"Episodes {_BEGUN[found.alike]}; those that ended unlike first, in two players that move "
        "as one."
    )
    if found.num_pairs > len(found.pairs):
        told += f" The first {len(found.pairs)} of {found.num_pairs}."
    several = len({pair.task for pair in found.pairs}) > 1
    rows = [_row(pair, found, reports, several) for pair in found.pairs]
    head = "".join(
        f'<th scope="col">{document_page.named(name)}</th>'
        for name in ("side by side", found.first, found.second)
    )

    def table(some: Sequence[str], which: str = "") -> str:
        shown = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(some)}</tbody></table>"
        return document_page.scrolling(shown, f"{found.first} beside {found.second}{which}")

    more = ""
    if len(rows) > _FEW:
        others = table(rows[_FEW:], ", the others")
        more = f"<details><summary>{len(rows) - _FEW} more</summary>{others}</details>"
    return f"<h3>{heading}</h3><p>{escape(told)}</p>{table(rows[:_FEW])}{more}"


def _row(pair: EpisodePair, found: EpisodePairs, reports: Mapping[str, str], several: bool) -> str:
    """Where both began, as a link, and how each ended; the task only where there are several."""
    start = "" if pair.initial_state is None else f"start {pair.initial_state}"
    task = document_page.named(pair.task) if several else ""
    where = ", ".join(filter(None, (task, document_page.named(start) if start else ""))) or "both"
    address = beside(pair, (found.first, found.second), reports)
    ended = "".join(
        f"<td>{document_page.named(name)}: {_OUTCOMES[outcome]}</td>"
        for name, outcome in zip((pair.first, pair.second), pair.outcomes, strict=True)
    )
    return f'<tr><td><a class="small-button" href="{escape(address)}">{where}</a></td>{ended}</tr>'


def beside(pair: EpisodePair, names: tuple[str, str], reports: Mapping[str, str]) -> str:
    """The address of both episodes in two players, which call their policies by these names.

    `reports` are addresses of reports by the same names.

    >>> from goalward.rollouts.episode import Outcome
    >>> pair = EpisodePair("", None, "3", "4", (Outcome.SUCCESS, Outcome.TIME_OUT))
    >>> beside(pair, ("a", "b"), {"a": "../a/report", "b": "../b/report"}).split("#")[0]
    '../a/report/beside.html'
    """
    first, second = (reports[name] for name in names)
    # As seen from the first report, whose page holds the players.
    other = os.path.relpath(second, first)
    shown = [
        f"#episode?{urlencode({'id': episode, 'policy': name})}"
        for episode, name in zip((pair.first, pair.second), names, strict=True)
    ]
    episodes = {
        "a": f"{INDEX}{shown[0]}",
        "b": f"{Path(other).as_posix()}/{INDEX}{shown[1]}",
    }
    return f"{first}/{_BESIDE}#{urlencode(episodes)}"
