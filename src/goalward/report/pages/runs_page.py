"""Several runs on one page: answers, curves and episodes beside each other."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from urllib.parse import urlencode

from goalward.errors import GoalwardError
from goalward.files import check_folder, write_text
from goalward.locks import alone_in
from goalward.metrics.comparing.episode_pairs import EpisodePair
from goalward.report.figures.several_runs import runs_figure
from goalward.report.pages import document_page
from goalward.report.pages.assets import INDEX
from goalward.report.pages.comparison_page import beside, links_to
from goalward.report.pages.page_figures import page_figure, save_page_figure
from goalward.report.words.rendering import markdown
from goalward.report.words.several_runs import named_runs, runs_document
from goalward.report.words.tables import Table
from goalward.rollouts.episode import Outcome
from goalward.runs.run import Run

_NAME = "runs"
# A page is read by people; a report of its own has them all.
_MOST_EPISODES = 500
_WORDS = {Outcome.SUCCESS: "success", Outcome.TIME_OUT: "time-out", Outcome.FAILURE: "failure"}
_CURVES = (
    "Left: success rates with their intervals, in the order given. Middle: how many episodes have "
    "succeeded after so many steps. Right: the mean value of all episodes, frame by frame; an "
    "episode that has ended keeps its last value, a success the goal's."
)


def write_runs_page(runs: Sequence[Run], folder: Path) -> Path:
    """Write index.html, runs.json, .md, .png and .svg, and say which file to open.

    Episodes link to the runs' own reports, where those are there.
    """
    if len(runs) < 2:
        raise GoalwardError("one run has a report of its own: several are wanted here")
    check_folder(folder)
    named = named_runs(runs)
    with alone_in(folder):
        document = runs_document(named)
        write_text(folder / f"{_NAME}.md", markdown(document))
        rows = {
            name: {column: cell.plain() for column, cell in zip(table.columns, cells, strict=True)}
            for table in document.sections[1].blocks
            if isinstance(table, Table)
            for name, cells in table.rows
        }
        write_text(folder / f"{_NAME}.json", json.dumps(rows, indent=2) + "\n")
        save_page_figure(runs_figure(named), folder, _NAME)
        reports = links_to({name: run.folder.path for name, run in named.items()}, folder)
        panels = [
            document_page.panel(document.sections[1]),
            _curves(),
            _episodes(named, reports),
        ]
        page = document_page.page_of(document, list(named), panels, _NAME)
        return document_page.write_page(page, folder)


def _curves() -> str:
    drawn = page_figure(_NAME, "rates, successes by steps, values by frames")
    return (
        f'<section class="panel"><h2>Rates and curves</h2><p class="how">{escape(_CURVES)}</p>'
        f"{drawn}</section>"
    )


# ---- episodes -----------------------------------------------------------------------------------


def _episodes(runs: Mapping[str, Run], reports: Mapping[str, str]) -> str:
    links = "".join(
        f'<a class="small-button" href="{escape(report)}/{INDEX}">{document_page.named(name)}</a>'
        for name, report in reports.items()
    )
    parts = ['<section class="panel"><h2>Episodes</h2>']
    if links:
        parts.append(f'<p class="how">The reports of single runs.</p><p class="links">{links}</p>')
    table = _table(runs, reports)
    if table:
        parts.append(
            "<h3>Episodes of the same name</h3>"
            '<p class="how">Those that ended unlike come first. Whether they also began alike only '
            f"who recorded them can say.</p>{table}"
        )
    return "".join(parts) + "</section>"


def _table(runs: Mapping[str, Run], reports: Mapping[str, str]) -> str:
    """Episodes down, runs across; only those that several runs have."""
    outcomes = {
        name: {(episode.task, episode.id): episode.outcome for episode in run.episodes}
        for name, run in runs.items()
    }
    counts: dict[tuple[str, str], int] = {}
    for own in outcomes.values():
        for key in own:
            counts[key] = counts.get(key, 0) + 1
    shared = [key for key, count in counts.items() if count > 1]
    shared.sort(key=lambda key: len({own[key] for own in outcomes.values() if key in own}) == 1)
    if not shared:
        return ""
    several_tasks = len({task for task, _ in shared}) > 1
    several_reports = len(reports) > 1
    rows = "".join(
        f'<tr><th scope="row">{_task_and_episode(task, episode, several_tasks)}</th>'
        + "".join(
            _cell(episode, outcomes[name].get((task, episode)), reports.get(name)) for name in runs
        )
        + (_side_by_side(task, episode, outcomes, reports) if several_reports else "")
        + "</tr>"
        for task, episode in shared[:_MOST_EPISODES]
    )
    columns = ("episode", *runs, *(["side by side"] if several_reports else []))
    head = "".join(f'<th scope="col">{document_page.named(name)}</th>' for name in columns)
    more = len(shared) - _MOST_EPISODES
    note = f'<p class="note">{more:,} more are not listed.</p>' if more > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{document_page.scrolling(table, 'Episodes')}{note}"


def _task_and_episode(task: str, episode: str, several_tasks: bool) -> str:
    name = document_page.named(episode)
    return f"{document_page.named(task)}, {name}" if several_tasks else name


def _side_by_side(
    task: str,
    episode: str,
    outcomes: Mapping[str, Mapping[tuple[str, str], Outcome]],
    reports: Mapping[str, str],
) -> str:
    """A link to two players of the first two runs that have it, such that ended unlike if any."""
    own = {
        name: found[task, episode] for name, found in outcomes.items() if (task, episode) in found
    }
    pairs = list(combinations([name for name in own if name in reports], 2))
    if not pairs:
        return "<td></td>"
    first, second = min(pairs, key=lambda pair: own[pair[0]] == own[pair[1]])
    pair = EpisodePair(task, None, episode, episode, (own[first], own[second]))
    words = f"{first} and {second}"
    return (
        f'<td><a class="small-button" title="{escape(words)}" aria-label="{escape(words)}" '
        f'href="{escape(beside(pair, (first, second), reports))}">both</a></td>'
    )


def _cell(episode: str, outcome: Outcome | None, report: str | None) -> str:
    if outcome is None:
        return "<td></td>"
    mark = f'<span class="badge {outcome}">{_WORDS[outcome]}</span>'
    if report is None:
        return f"<td>{mark}</td>"
    address = f"{report}/{INDEX}#episode?{urlencode({'id': episode})}"
    return f'<td><a href="{escape(address)}">{mark}</a></td>'
