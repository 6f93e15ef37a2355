"""The table of tasks on the front page, with few of them and with a thousand."""

import numpy as np
import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.pages.files import write_pages
from goalward.rollouts.episode import Outcome

LONG = "put the " + "very " * 2000 + "red cup away"
WORD = "w" * 10_000
MARKUP = "</script><img src=x onerror=alert(1)>"
PHONE = {"viewport": {"width": 390, "height": 800}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def many_tasks(tmp_path_factory):
    """A thousand tasks of one episode, and a few of more, with names that ask for trouble."""
    folder = tmp_path_factory.mktemp("many_tasks")
    names = [f"task {i}" for i in range(1000)]
    names += [LONG] * 4 + [WORD] * 3 + [MARKUP] * 2 + [""]
    outcomes = [(Outcome.SUCCESS, Outcome.TIME_OUT)[i % 2] for i in range(len(names))]
    episodes = [
        drawn_episode(str(i), 5, outcome=outcome, task=name)
        for i, (outcome, name) in enumerate(zip(outcomes, names, strict=True))
    ]
    said = [
        countdown(5) if outcome is Outcome.SUCCESS else np.full((2, 5), 90.0)
        for outcome in outcomes
    ]
    run, _ = drawn_run(episodes, {"td": said}, folder)
    return write_pages(run, None, folder / "report")


def first_names(page, count=5):
    names = page.locator("table.tasks .task-name")
    return [names.nth(i).inner_text() for i in range(count)]


def test_every_task_has_a_row_the_most_episodes_first(many_tasks, open_report):
    page = open_report(many_tasks).without_charts().open()
    assert page.locator("table.tasks tbody tr").count() == 1004
    long, word, markup, *rest = first_names(page)
    assert (markup, rest) == (MARKUP, ["task 0", "task 1"])
    # Shortened where it is read; all of it where the mouse rests.
    assert long.startswith("put the very")
    assert long.endswith("red cup away")
    assert max(len(long), len(word)) <= 120
    title = page.locator("table.tasks .task-name bdi").first.get_attribute("title")
    assert title == LONG
    assert page.locator("main img[src=x]").count() == 0
    cells = page.locator("table.tasks tbody tr").first.locator("td").all_inner_texts()
    assert cells[0] == "4"
    assert cells[1].split() == ["50", "%", "(15", "%", "to", "85", "%)"]
    assert cells[2:4] == ["2", "0"]
    assert "By task" in page.inner_text("main")
    assert "no further apart than chance may put them" in page.inner_text("main")


def test_a_header_sorts_and_turns_around(many_tasks, open_report):
    page = open_report(many_tasks).without_charts().open()
    page.click("table.tasks button[data-key=name]")
    assert first_names(page, 1) == ["(no name)"]
    page.click("table.tasks button[data-key=name]")
    assert first_names(page, 1)[0].startswith("www")
    header = page.locator("table.tasks th", has=page.locator("[data-key=name]"))
    assert header.get_attribute("aria-sort") == "descending"
    # What has no AUROC comes last, either way.
    for _ in range(2):
        page.click("table.tasks button[data-key=auroc]")
        assert (
            "\u2013"
            not in page.locator("table.tasks tbody tr").first.locator("td").nth(5).inner_text()
        )


def test_a_phone_sorts_by_a_list_as_headers_do(many_tasks, open_report):
    page = open_report(many_tasks).without_charts().open()
    assert not page.locator(".task-sort").is_visible()
    by_headers = {}
    for header in page.locator("table.tasks thead th .sort").all():
        # Without its unit, which stands behind it.
        name = header.evaluate("one => one.firstChild.firstChild.textContent")
        for _ in range(2):
            page.click(f"table.tasks button[data-key={header.get_attribute('data-key')}]")
            way = page.get_attribute("table.tasks thead th:not([aria-sort=none])", "aria-sort")
            by_headers[name, way] = page.locator(".task-name").all_text_contents()
    phone = open_report(many_tasks, **PHONE).without_charts().open()
    assert not phone.locator("table.tasks thead").is_visible()
    sort = phone.locator(".task-sort").get_by_label("Sort by")
    assert sort.is_visible()
    assert sort.locator("option:checked").inner_text() == "Episodes, highest first"
    words = {"A to Z": "ascending", "lowest first": "ascending"}
    words |= {"Z to A": "descending", "highest first": "descending"}
    by_list = {}
    for option in sort.locator("option").all_text_contents():
        sort.select_option(option)
        name, way = option.split(", ")
        by_list[name, words[way]] = phone.locator(".task-name").all_text_contents()
    assert by_list == by_headers
    assert len(by_list) == 16
    sort.select_option("Task, A to Z")
    assert plot_names(phone)[:2] == first_names(phone, 2) == ["(no name)", MARKUP]


def test_the_list_is_reached_by_keyboard_and_is_not_printed(many_tasks, open_report):
    page = open_report(many_tasks, viewport={"width": 390, "height": 800}).without_charts().open()
    page.focus(".task-scroll")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    assert first_names(page, 1) == ["(no name)"]
    assert page.evaluate("document.activeElement.value") == "Task, A to Z"
    page.emulate_media(media="print")
    assert not page.locator(".task-sort").is_visible()


def test_a_task_leads_to_its_episodes(many_tasks, open_report):
    reader = open_report(many_tasks).without_charts()
    page = reader.open()
    page.click("table.tasks .task-name a >> nth=1")
    page.wait_for_selector("table.episodes")
    assert page.inner_text(".row-count") == "3 of 1,010 episodes"


@pytest.mark.parametrize("screen", [{}, PHONE])
@pytest.mark.parametrize("address", ["", "#episodes?task=1000", "#episode?id=1004"])
def test_long_names_do_not_push_the_page_sideways(many_tasks, open_report, screen, address):
    reader = open_report(many_tasks, **screen).without_charts()
    page = reader.open(address)
    assert not reader.scrolls_sideways()
    # Nor do they fill a screen: the page is words and numbers.
    box = page.locator("table.tasks tbody tr").first.bounding_box() if not address else None
    assert box is None or box["height"] < 400


# ---- a small plot for each task -----------------------------------------------------------------


def plot_names(page):
    # Not as text that is seen: a plot further down is not drawn yet.
    return page.locator(".task-plot .task-title").all_text_contents()


def test_the_first_tasks_have_plots_in_the_order_of_the_table_and_all_on_request(
    many_tasks, open_report
):
    page = open_report(many_tasks).without_charts().open()
    assert len(plot_names(page)) == 10
    long, word, markup, *rest = plot_names(page)
    assert (markup, rest[:2]) == (MARKUP, ["task 0", "task 1"])
    assert max(len(long), len(word)) <= 70
    assert long.endswith("red cup away")
    page.click("table.tasks button[data-key=name]")
    assert plot_names(page)[:2] == ["(no name)", MARKUP]
    page.click("text=Show all 1,004 tasks")
    assert page.locator(".task-plot").count() == 1004
    page.click("text=Show the first 10 only")
    assert page.locator(".task-plot").count() == 10
    page.click(".task-plot >> nth=1")
    page.wait_for_selector("table.episodes")
    assert page.inner_text(".row-count") == "2 of 1,010 episodes"


def test_a_plot_has_the_rate_the_episodes_and_their_mean(open_report, tmp_path):
    """Four successes of 11 frames and two time-outs of 21, at the left and at half the width."""
    outcomes = [Outcome.SUCCESS] * 4 + [Outcome.TIME_OUT] * 2
    episodes = [
        drawn_episode(f"{task} {i}", 11 if o is Outcome.SUCCESS else 21, outcome=o, task=task)
        for task in ("lift", "pour")
        for i, o in enumerate(outcomes)
    ]
    said = [countdown(11) if e.num_frames == 11 else np.full((2, 21), np.inf) for e in episodes]
    run, _ = drawn_run(episodes, {"td": said}, tmp_path)
    reader = open_report(write_pages(run, None, tmp_path / "report")).without_charts()
    page = reader.open()
    plot = page.locator(".task-plot").first
    assert plot.locator(".task-rate").inner_text().replace("\u00a0", " ") == (
        "4 of 6: 67 % (30 % to 90 %)"
    )
    assert plot.locator(".task-curve.success").count() == 4
    assert plot.locator(".task-mean.success").count() == 1
    # Two curves speak for themselves.
    assert plot.locator(".task-curve.time_out").count() == 2
    assert plot.locator(".task-mean.time_out").count() == 0
    assert page.locator(".more-tasks").count() == 0

    def ends(selector):
        points = plot.locator(selector).first.get_attribute("points").split()
        return [tuple(map(float, point.split(","))) for point in (points[0], points[-1])]

    (left, _), (middle, goal) = ends(".task-mean.success")
    (also_left, never), (right, still) = ends(".task-curve.time_out")
    assert left == also_left
    assert middle - left == pytest.approx((right - left) / 2, abs=0.1)
    assert never == still < goal
