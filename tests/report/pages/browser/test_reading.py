"""A reader who is new, in doubt, without a mouse, without all files, or with a bad link."""

import re
import shutil

from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.report.pages.files import write_pages
from goalward.rollouts.episode import Outcome

TABLET = {"viewport": {"width": 768, "height": 1024}, "has_touch": True, "is_mobile": True}


def ids(page) -> list[str]:
    return page.locator("table.episodes tbody th.id a").all_inner_texts()


def focused(page) -> str:
    return page.evaluate("document.activeElement.innerText || document.activeElement.id")


# ---- what is said, and how surely -------------------------------------------------------------


def test_doubts_stand_wherever_the_values_are_shown(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    page.click("text=The whole answer in words")
    words = page.locator("details.words", has_text="The whole answer in words")
    assert "Take what the values of liveness say here as a hint" in words.inner_text()
    sentence = "The values are weak: take them as a hint, not as an answer"
    assert sentence in page.inner_text(".watch .doubt-line")
    page.click(".tabs a[data-view=episodes]")
    assert sentence in page.inner_text("#page-episodes .doubt-line")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    page.click("#page-episode .doubt-line a")
    # At the answer, unfolded, and not at the top of the page.
    page.wait_for_selector("#trust details[open]")
    assert page.evaluate("document.activeElement.id") == "trust"


def test_values_without_doubts_are_shown_without(long_report, open_report):
    reader = open_report(long_report).without_charts()
    page = reader.open()
    assert page.locator(".answer", has_text="With twice the time").count() == 1
    assert page.locator(".doubt-line, .trust.doubtful").count() == 0
    page = reader.open("#episodes")
    assert page.locator(".doubt-line").count() == 0


def test_events_are_said_to_be_what_the_value_sees(demo_report, open_report):
    page = open_report(demo_report).open("#episodes?event=setback")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    events = page.inner_text("section.events")
    assert events.startswith("What the value saw")
    assert "read off the curve of liveness, not off the pictures" in events
    assert "seen by 2 of 2 seeds" in events


def test_every_column_says_what_it_means(demo_report, open_report):
    page = open_report(demo_report).open("#episodes")
    assert page.get_attribute("button.sort[data-key=final]", "title").endswith("nearer to the goal")
    page.click("text=What the columns mean")
    told = page.inner_text(".meanings")
    assert "At the end, steps to go" in told
    # Of those that are not shown until somebody chooses them, too.
    assert page.locator(".meanings dt").count() == page.locator("button.sort").count() + 1


# ---- from a number to its episodes ------------------------------------------------------------


def test_a_count_leads_to_as_many_rows_whatever_was_chosen_before(demo_report, open_report):
    reader = open_report(demo_report).without_charts()
    page = reader.open("#overview?q=nothing&held=no")
    page.click(".outcome-key a:has(.time_out)")
    page.wait_for_selector("table.episodes")
    assert len(ids(page)) == 3
    assert reader.address == "episodes?outcome=time_out"


def test_time_outs_and_their_verdicts_can_be_watched(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    tile = page.locator(".answer", has_text="With twice the time")
    tile.locator("summary").click()
    names = tile.locator("a").all_inner_texts()
    assert len(names) == 3
    tile.locator("a").nth(1).click()
    page.wait_for_selector(".cursor-label")
    assert page.inner_text("#page-episode h1") == f"Episode {names[1]}"


# ---- links ------------------------------------------------------------------------------------


BAD_LINKS = {
    "#%E0%A4%A": ".big",
    "#<script>alert(1)</script>": ".big",
    "#episodes?sort=__proto__&desc=x&page=-5&setback=x&q=((": ".empty",
    "#episodes?sort=toString&page=999": "table.episodes",
    "#episode": ".problem:visible",
    "#episode?id=1&frame=1e99&methods=,%00&scale=constructor": ".cursor-label",
    "#episode?id=1&frame=-7&view=overview": ".cursor-label",
}


def test_a_bad_link_shows_something_all_the_same(demo_report, open_report):
    reader = open_report(demo_report).without_charts()
    for address, selector in BAD_LINKS.items():
        reader.open(address).wait_for_selector(selector)


# ---- names ------------------------------------------------------------------------------------


def test_a_name_that_runs_the_other_way_turns_nothing_else_around(odd_report, open_report):
    page = open_report(odd_report).open("#episode?id=%E2%80%AEbackwards")
    page.wait_for_selector(".cursor-label")
    # "fold · 20 frames": the count stands to the right of the task, and is read as it is.
    left, right = page.evaluate(
        """() => {
          const facts = document.querySelector('.episode-facts');
          const range = document.createRange();
          range.selectNodeContents(facts.lastChild);
          return [range.getBoundingClientRect().left,
                  facts.querySelector('bdi').getBoundingClientRect().right];
        }"""
    )
    assert left >= right
    # In a line that is turned around, the first letter is the rightmost.
    first, last = page.evaluate(
        """() => {
          const words = document.querySelector('.episode-facts').lastChild;
          return [0, words.length - 1].map((at) => {
            const range = document.createRange();
            range.setStart(words, at);
            range.setEnd(words, at + 1);
            return range.getBoundingClientRect().left;
          });
        }"""
    )
    assert first < last


def test_a_long_name_leaves_room_for_the_player(odd_report, open_report):
    phone = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
    reader = open_report(odd_report, **phone)
    page = reader.open(f"#episode?id={'x' * 300}")
    page.wait_for_selector(".cursor-label")
    assert page.locator("#page-episode h1").bounding_box()["height"] < 110
    assert not reader.scrolls_sideways()


# ---- without a mouse, without a keyboard ------------------------------------------------------


def test_the_keyboard_goes_on_where_it_was(demo_report, open_report):
    page = open_report(demo_report).open("#episodes")
    name = ids(page)[2]
    page.focus("table.episodes tbody tr:nth-child(3) th a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".cursor-label")
    assert focused(page).startswith("All episodes")
    page.keyboard.press("Tab")
    assert focused(page) == "All episodes"
    page.keyboard.press("Escape")
    page.wait_for_selector("table.episodes")
    assert focused(page) == name


def test_a_speed_that_was_clicked_lets_the_keys_go(demo_report, open_report):
    page = open_report(demo_report).open("#episode?id=1")
    page.wait_for_selector(".cursor-label")
    page.dispatch_event("#speed", "pointerdown")
    page.focus("#speed")
    page.select_option("#speed", "2")
    page.keyboard.press("Space")
    assert page.get_attribute(".play", "aria-label") == "Pause (space)"


def test_words_typed_into_the_search_are_no_keys(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes")
    page.focus("#search")
    page.keyboard.type("n 1m?")
    assert page.input_value("#search") == "n 1m?"
    assert not page.is_visible("dialog.help")
    assert reader.address.startswith("episodes?q=n")


def test_a_tablet_has_no_list_of_keys_and_no_table_wider_than_it(demo_report, open_report):
    reader = open_report(demo_report, **TABLET)
    page = reader.open("#episode?id=1")
    page.wait_for_selector(".cursor-label")
    assert not page.is_visible(".help-button")
    reader.open("#episodes")
    assert not reader.scrolls_sideways()


def test_a_table_that_is_too_wide_scrolls_by_itself(demo_report, open_report):
    size = {"viewport": {"width": 920, "height": 700}, "has_touch": True, "is_mobile": True}
    reader = open_report(demo_report, **size)
    page = reader.open("#episodes")
    assert page.is_visible("table.episodes thead")
    assert not reader.scrolls_sideways()


# ---- paper ------------------------------------------------------------------------------------


def test_on_paper_the_table_is_a_table(demo_report, open_report):
    page = open_report(demo_report, viewport={"width": 718, "height": 1047}).open("#episodes")
    page.emulate_media(media="print")
    assert page.is_visible("table.episodes thead")
    assert not page.is_visible(".filters")
    assert page.pdf(format="A4").startswith(b"%PDF")


# ---- without all files ------------------------------------------------------------------------


def only_missing_files(reader) -> bool:
    """The browser's own words on missing files, and nothing else, went wrong; then forget them."""
    problems = list(reader.problems)
    reader.problems.clear()
    return bool(problems) and all("ERR_FILE_NOT_FOUND" in problem for problem in problems)


def test_a_page_sent_without_its_folders_says_what_is_missing(demo_report, open_report, tmp_path):
    shutil.copy(demo_report, tmp_path)
    reader = open_report(tmp_path / "index.html")
    reader.page.goto((tmp_path / "index.html").as_uri())
    # Not at once: on a slow disk it would flash up before the numbers.
    assert not reader.page.is_visible("#waiting")
    reader.page.wait_for_selector("#waiting")
    assert "copy the whole folder of the report" in reader.page.inner_text("main")
    assert only_missing_files(reader)


def test_a_page_that_works_says_nothing_of_missing_files(demo_report, open_report):
    assert open_report(demo_report).without_charts().open().locator("#waiting").count() == 0


def test_numbers_of_another_version_are_told(demo_report, open_report, tmp_path):
    shutil.copytree(demo_report.parent / "assets", tmp_path / "assets")
    shutil.copy(demo_report, tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "run.js").write_text('goalward.receive("run",{"front":{"policy":"a"}});')
    shutil.copy(demo_report.parent / "data" / "marks.js", tmp_path / "data")
    reader = open_report(tmp_path / "index.html")
    reader.page.goto((tmp_path / "index.html").as_uri())
    assert "This report cannot be shown" in reader.page.inner_text("#problem")
    assert reader.page.locator("#waiting").count() == 0
    assert [problem[:6] for problem in reader.problems] == ["error:"]
    reader.problems.clear()


def test_without_javascript_a_sentence_says_where_the_words_are(demo_report, open_report):
    reader = open_report(demo_report, java_script_enabled=False)
    reader.page.goto(demo_report.as_uri())
    assert "summary.md" in reader.page.inner_text("main")
    assert not reader.page.is_visible("#waiting")


def test_a_video_that_was_deleted_is_told(demo_report, open_report, tmp_path):
    shutil.copytree(demo_report.parent, tmp_path / "report")
    for video in (tmp_path / "report" / "videos").iterdir():
        video.unlink()
    reader = open_report(tmp_path / "report" / "index.html")
    page = reader.open("#episode?id=1&frame=4")
    page.wait_for_selector("text=This video is missing or cannot be played here.")
    page.click(".play")
    reader.until(
        "Number(document.querySelector('.curve-slider').getAttribute('aria-valuenow')) > 6"
    )
    assert only_missing_files(reader)


def test_the_front_page_is_two_sheets_of_paper_and_back_on_the_screen(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open()
    reader.until("document.documentElement.dataset.charts === 'drawn'")
    before = page.eval_on_selector_all(".plot .main-svg", "all => all.map(s => s.clientWidth)")
    sheets = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) == 2
    reader.until(
        "[...document.querySelectorAll('.plot .main-svg')].map(s => s.clientWidth).join()"
        f" === '{','.join(map(str, before))}'"
    )


def test_two_sheets_hold_six_cards_with_pictures_and_the_truth(full_report, open_report):
    reader = open_report(full_report)
    page = reader.open()
    reader.until("document.documentElement.dataset.charts === 'drawn'")
    assert page.locator(".card img.card-picture").count() == 6
    assert page.locator(".plot .main-svg").count() > 6
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 2
    # And with three lines more on either: names and warnings are longer elsewhere.
    for place in (".watch", "section:last-of-type"):
        page.evaluate(
            """place => {
              const lines = document.createElement('div');
              lines.style.height = '4em';
              document.querySelector(`#page-overview > ${place}`).append(lines);
            }""",
            place,
        )
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 2


# ---- names that nobody expected -----------------------------------------------------------------


def test_long_names_push_nothing_out_of_its_place(open_report, tmp_path):
    """Of a policy, an episode and a task; the badge of a card and the first numbers stay seen."""
    episodes = [
        drawn_episode(
            f"{'a long name ' * 30}{i}",
            20,
            task="x" * 10_000,
            outcome=Outcome.SUCCESS if i % 2 else Outcome.TIME_OUT,
        )
        for i in range(8)
    ]
    steps = [countdown(20) + (0 if i % 2 else 15) for i in range(8)]
    run, _ = drawn_run(episodes, {"td": steps}, tmp_path, policy="p" * 3000)
    reader = open_report(write_pages(run, None, tmp_path / "report")).without_charts()
    page = reader.open()
    assert page.locator(".big").bounding_box()["y"] < 500
    # A name in the next steps is a line, all of it where the mouse rests.
    names = page.locator(".next a bdi")
    assert names.count() > 0
    assert max(map(len, names.all_inner_texts())) <= 40
    assert names.first.get_attribute("title").startswith("a long name a long name")
    card, badge = page.locator(".card").first, page.locator(".card .badge").first
    right = [one.bounding_box()["x"] + one.bounding_box()["width"] for one in (badge, card)]
    assert right[0] < right[1]
    assert not reader.scrolls_sideways()
