"""What a reader with an eye for it would notice: nothing cut, nothing across, all in line."""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.pages.files import write_pages
from goalward.report.pages.runs_page import write_runs_page
from goalward.rollouts.episode import Outcome

LARGE = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ARABIC = "\u0627\u0644\u0652\u062a\u064e\u0642\u0650\u0637\u0650 " * 6


@pytest.fixture(scope="module")
def several_tasks(tmp_path_factory):
    """Six tasks of six episodes, among them a name that runs the other way, and one of emoji."""
    folder = tmp_path_factory.mktemp("several_tasks")
    tasks = [
        "lift",
        "pour",
        ARABIC,
        "x" + "\U0001f9be" * 200,
        "put the can into its bin",
        "x" * 300,
    ]
    episodes = [
        drawn_episode(
            f"{i}", 30, outcome=Outcome.TIME_OUT if i % 2 else Outcome.SUCCESS, task=tasks[i // 6]
        )
        for i in range(36)
    ]
    steps = [countdown(30) + (18 if i % 2 else 0) for i in range(36)]
    run, _ = drawn_run(episodes, {"td": steps}, folder, standard_horizon=20)
    return write_pages(run, None, folder / "report")


# ---- several runs ------------------------------------------------------------------------------


def test_headings_of_several_runs_are_words_and_the_last_column_is_seen(tmp_path, browser):
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 4
    runs = []
    for name in ("the policy of March", "8 episodes, two labels wrong"):
        episodes = [drawn_episode(str(i), 30, outcome=one) for i, one in enumerate(outcomes)]
        steps = [countdown(30) + (25 if i % 2 else 0) for i in range(8)]
        runs.append(drawn_run(episodes, {"td": steps}, tmp_path / name, policy=name)[0])
    context = browser.new_context(**LARGE)
    page = context.new_page()
    page.goto(write_runs_page(runs, tmp_path / "both").as_uri())
    table = page.locator("table").first
    for heading in table.locator("th bdi").all():
        words = heading.inner_text().split()
        lines = heading.evaluate("one => one.getClientRects().length")
        assert lines <= len(words), words
    room = page.locator(".scroll").first.evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert room[0] <= room[1]
    context.close()


# ---- the front page ----------------------------------------------------------------------------


def test_the_first_bar_is_what_the_answer_rests_on(several_tasks, open_report):
    page = open_report(several_tasks).open()
    page.wait_for_selector("html[data-charts]")
    told = page.evaluate("goalward.run.front.trust.why.match(/in (\\d+) of 100/)[1]")
    first = page.locator(".bars .xtick text").first.text_content().replace("\u00a0", " ")
    assert first == f"a success looks nearer: {told} %"


def test_on_a_phone_the_words_of_bars_lie_level_and_apart(several_tasks, open_report):
    page = open_report(several_tasks, **PHONE).open()
    page.wait_for_selector("html[data-charts]")
    labels = page.locator(".bars .xtick text")
    assert labels.count() == 4
    for label in labels.all():
        assert "rotate(" not in (label.get_attribute("transform") or "").replace("rotate(0,", "")
    boxes = sorted((one.bounding_box() for one in labels.all()), key=lambda box: box["x"])
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] <= right["x"]


def test_numbers_keep_their_signs_and_names_their_letters(several_tasks, open_report):
    page = open_report(several_tasks).without_charts().open("#words")
    assert "\u22121 is at the goal" in page.inner_text(".glossary >> nth=2")
    shown = page.evaluate(
        """() => goalward.words.spans([["", "from -1 to 5 % (p = 1)"], ["em", "run -1 5 %"],
          ["code", "cut -1"]]).map((one) => one.textContent)"""
    )
    assert shown == ["from \u22121 to 5\u00a0% (p\u00a0=\u00a01)", "run -1 5 %", "cut -1"]


def test_two_figures_side_by_side_begin_at_one_height(full_report, open_report):
    page = open_report(full_report, **LARGE).open()
    page.wait_for_selector("html[data-charts]")
    plots = page.locator(".chart-pair.level .plot")
    tops = {round(plots.nth(i).bounding_box()["y"]) for i in range(plots.count())}
    assert plots.count() == 2
    assert len(tops) == 1


def test_a_long_command_is_seen_to_its_end(several_tasks, open_report):
    page = open_report(several_tasks, **LARGE).without_charts().open()
    shown = page.locator(".next .command code")
    shown.first.evaluate(
        "one => (one.textContent ="
        " 'goalward episodes /data/runs/pick/recovering --outcome time_out --sort chance')"
    )
    sizes = shown.first.evaluate("one => [one.scrollHeight, one.clientHeight, one.scrollWidth]")
    assert sizes[0] <= sizes[1]
    assert sizes[2] <= shown.first.evaluate("one => one.clientWidth")


# ---- tasks -------------------------------------------------------------------------------------


def test_few_tasks_are_all_seen_and_on_a_phone_each_is_a_card(several_tasks, open_report):
    for size in (LARGE, PHONE):
        page = open_report(several_tasks, **size).without_charts().open()
        room = page.locator(".task-scroll").evaluate(
            "one => [one.scrollHeight, one.clientHeight, one.scrollWidth, one.clientWidth]"
        )
        assert room[0] <= room[1] + 1
        assert room[2] <= room[3]


def test_where_values_tell_nothing_of_a_task_they_do_not_answer_for_it(open_report, tmp_path):
    """In one task they tell successes apart, in the other they say the same of all."""
    episodes = [
        drawn_episode(
            f"{i}", 30, outcome=(Outcome.SUCCESS, Outcome.TIME_OUT)[i % 2], task="ab"[i // 24]
        )
        for i in range(48)
    ]
    steps = [countdown(30) + (25 if i % 2 and i < 24 else 0) for i in range(48)]
    run, _ = drawn_run(episodes, {"td": steps}, tmp_path)
    assert run.time_outs.saying == "expected"
    page = open_report(write_pages(run, None, tmp_path / "report")).without_charts().open()
    told = page.locator('table.tasks td[data-name^="With twice"]').all_inner_texts()
    assert "%" in told[0]
    assert told[1] == "cannot tell"


def test_several_tasks_take_two_sheets_of_paper_too(several_tasks, open_report):
    reader = open_report(several_tasks)
    page = reader.open()
    reader.until("document.documentElement.dataset.charts === 'drawn'")
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 2
    page.emulate_media(media="print")
    assert not page.is_visible(".task-plots")
    assert page.locator("table.tasks tbody tr").last.is_visible()


def test_a_name_that_runs_the_other_way_is_cut_at_its_own_end(several_tasks, open_report):
    page = open_report(several_tasks, **LARGE).open("#episodes?task=2")
    cell = page.locator("td.task").first
    assert cell.evaluate("one => getComputedStyle(one).direction") == "rtl"


def test_an_emoji_is_never_cut_in_two(several_tasks, open_report):
    page = open_report(several_tasks).without_charts().open()
    names = page.locator("table.tasks .task-name").all_inner_texts()
    shortened = next(name for name in names if "\U0001f9be" in name)
    assert set(shortened) == {"x", "\U0001f9be", "\N{HORIZONTAL ELLIPSIS}", " "}


# ---- the table and the player ------------------------------------------------------------------


def test_on_a_phone_the_words_of_a_row_begin_on_the_left(demo_report, open_report):
    page = open_report(demo_report, **PHONE).open("#episodes")
    cells = page.locator("table.episodes tbody td.number")
    assert cells.count() > 4
    aligned = cells.evaluate_all("all => all.map((one) => getComputedStyle(one).textAlign)")
    assert set(aligned) == {"left"}


def test_marks_do_not_lie_on_the_buttons_above_them(demo_report, open_report):
    page = open_report(demo_report).open("#episode?id=1")
    page.wait_for_selector(".cursor-label")
    # As where events lie close: marks take a second row.
    page.evaluate(
        """() => {
          const last = goalward.run.episodes.length - 1;
          return goalward.loadEpisode(last).then((episode) => {
            const [one] = episode.events;
            episode.events = [0, 1, 2].map((k) => ({ ...one, frame: 20 + k }));
            goalward.route.go({ view: 'episode', id: goalward.run.episodes[last].id });
          });
        }"""
    )
    page.locator(".mark").nth(2).wait_for()
    tops = {round(mark.bounding_box()["y"]) for mark in page.locator(".mark").all()}
    assert len(tops) == 2
    legend = page.locator(".legend").bounding_box()
    assert min(tops) >= legend["y"] + legend["height"]


def test_a_true_value_has_its_place_on_the_scale_of_steps(full_report, open_report):
    """Farther than the curve reaches: the axis goes on to it, and it is not drawn at its end."""
    page = open_report(full_report).open("#episode?id=take 0&scale=steps")
    page.wait_for_selector(".cursor-label")
    # Of the curve 50 steps are the most; the truth lies at more.
    most = page.evaluate(
        """() => goalward.loadEpisode(0).then((episode) => Math.max(...episode.truth
          .map(({ value }) => goalward.words.stepsOf(value, goalward.run.discount))
          .filter(isFinite)))"""
    )
    assert most > 55
    drawn = page.evaluate(
        """() => {
          const asked = [];
          const write = CanvasRenderingContext2D.prototype.arc;
          CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
            asked.push(y);
            return write.call(this, x, y, ...rest);
          };
          goalward.player.redraw();
          CanvasRenderingContext2D.prototype.arc = write;
          return asked;
        }"""
    )
    top = 52
    assert min(drawn) > top + 2
    page.click(".truth")
    assert page.get_attribute(".truth", "aria-pressed") == "false"


def test_a_short_episode_does_not_pull_back_a_long_one_beside_it(tmp_path, browser):
    lengths = {"short": 20, "long": 60}
    episodes = [drawn_episode(name, n, outcome=Outcome.SUCCESS) for name, n in lengths.items()]
    run, _ = drawn_run(episodes, {"td": [countdown(n) for n in lengths.values()]}, tmp_path)
    folder = write_pages(run, None, tmp_path / "report").parent
    context = browser.new_context(**LARGE)
    page = context.new_page()
    sides = {
        "a": "index.html#episode?id=long&frame=40",
        "b": "index.html#episode?id=short&frame=40",
    }
    page.goto(f"{folder.as_uri()}/beside.html#{urlencode(sides)}")
    sliders = [page.frame_locator("iframe").nth(i).locator(".curve-slider") for i in range(2)]
    for slider in sliders:
        slider.wait_for()
    page.wait_for_timeout(500)
    assert [slider.get_attribute("aria-valuenow") for slider in sliders] == ["40", "19"]
    context.close()


def test_any_episode_of_many_is_found_to_be_put_beside(long_report, open_report):
    page = open_report(long_report).without_charts().open("#episode?id=take 0")
    page.wait_for_selector(".cursor-label")
    page.click("#beside")
    page.fill("dialog input[type=search]", "take 119")
    assert page.locator("dialog option").all_inner_texts() == ["take 119 (time-out)"]
    page.fill("dialog input[type=search]", "no such")
    assert page.locator("dialog button", has_text="Show both").is_disabled()
    page.fill("dialog input[type=search]", "TAKE 5")
    page.keyboard.press("Enter")
    page.wait_for_url("**/beside.html#*")
