"""From the table to the player and back: where an episode opens, what is noted, what downloads."""

import csv
import re


def rows_of(download) -> list[list[str]]:
    with download.path().open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_table_sorted_by_setbacks_opens_at_the_setback(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes?sort=setback")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    at = "goalward.run.episodes.find(({ id }) => id === goalward.route.state().id).setback_frame"
    frame = page.evaluate(at)
    assert frame > 0
    assert reader.frame() == frame


def test_the_pointer_reads_what_the_curve_says_there(demo_report, open_report):
    page = open_report(demo_report).open("#episodes?sort=setback")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    assert not page.is_visible(".readout")
    page.locator(".curve-area").hover(position={"x": 400, "y": 60})
    card = page.locator(".readout")
    card.wait_for()
    told = card.inner_text()
    frame = int(told.split("frame ")[1].split()[0])
    page.locator(".curve-area").hover(position={"x": 700, "y": 60})
    assert int(card.inner_text().split("frame ")[1].split()[0]) > frame > 0
    for words in ("liveness", "its seeds", "smoothed, as events are found", " steps"):
        assert words in told


def test_a_click_enlarges_a_camera_and_another_makes_it_small(demo_report, open_report):
    page = open_report(demo_report).open("#episode?id=1")
    page.wait_for_selector(".cursor-label")
    camera = page.locator(".camera").first
    small = camera.bounding_box()["width"]
    camera.locator("video").click()
    large = camera.bounding_box()["width"]
    assert large > 1.5 * small
    assert camera.locator(".enlarge").get_attribute("aria-pressed") == "true"
    camera.locator(".enlarge").click()
    assert camera.bounding_box()["width"] == small


def test_escape_makes_a_camera_small_before_it_leaves_the_player(demo_report, open_report):
    reader = open_report(demo_report, viewport={"width": 1440, "height": 900}).without_charts()
    page = reader.open_episode("#episode?id=1")
    page.click(".camera .enlarge >> nth=0")
    assert page.locator(".camera.large").count() == 1
    # The curve is not pushed out of the window.
    assert page.locator(".curve-area").bounding_box()["y"] < 800
    page.keyboard.press("Escape")
    assert page.locator(".camera.large").count() == 0
    assert reader.address.startswith("episode?")
    page.keyboard.press("Escape")
    page.wait_for_selector("table.episodes")


def test_the_pointer_reads_another_curve_when_the_curve_is_switched(demo_report, open_report):
    page = open_report(demo_report).without_charts().open_episode("#episode?id=1")
    page.evaluate(
        """goalward.loadEpisode(1).then((episode) => {
          for (const { hindsight } of episode.curves)
            for (const part of Object.values(hindsight)) part.fill(1);
        })"""
    )
    page.locator(".curve-area").hover(position={"x": 400, "y": 60})
    card = page.locator(".readout")
    card.wait_for()
    assert "never" not in card.inner_text()
    assert "smoothed, as events are found" in card.inner_text()
    page.keyboard.press("h")
    assert "1.00 · never" in card.inner_text()
    # That number is of the curve that events are found in.
    assert "smoothed" not in card.inner_text()


def test_a_table_with_all_its_columns_fits_a_usual_screen(demo_report, open_report):
    reader = open_report(demo_report, viewport={"width": 1440, "height": 900}).without_charts()
    page = reader.open()
    page.evaluate(
        """() => {
          const ids = goalward.run.episodes.map(({ id }) => id);
          const all = (what) => Object.fromEntries(ids.map((id) => [id, what]));
          const finding = { sure: 93, frame: 3, words: "looks done" };
          const kept = { decision: "drop", kept: 10, reasons: [] };
          goalward.marked = { audit: all([finding]), curation: all(kept) };
          goalward.notes.of = () => ({ text: "a note", tags: ["wrist"], wrong_label: true });
          goalward.notes.hasAny = () => true;
        }"""
    )
    page.evaluate("location.hash = '#episodes'")
    page.wait_for_selector("table.episodes")
    widths = "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])"
    table, room = page.evaluate(f"{widths}(document.querySelector('.rows .scroll'))")
    assert table <= room
    assert page.locator("button.sort[data-key=curation]").count() == 1
    assert page.locator("button.sort[data-key=disagreement]").count() == 0
    assert not reader.scrolls_sideways()
    page.click(".column-picker summary")
    page.check(".column-choices input[data-key=disagreement]")
    assert page.locator("button.sort[data-key=disagreement]").count() == 1
    # Every column chosen is a choice too, and stays.
    page.reload()
    page.wait_for_selector("button.sort[data-key=disagreement]")


def test_what_is_shown_downloads_without_the_columns_taken_away(demo_report, open_report):
    page = open_report(demo_report).without_charts().open("#episodes?outcome=time_out")
    page.click(".column-picker summary")
    page.uncheck(".column-choices input[data-key=frames]")
    with page.expect_download() as started:
        page.click("#download")
    head, *rows = rows_of(started.value)
    assert head[:2] == ["Episode", "Outcome"]
    assert "Length (frames)" not in head
    assert "Largest setback (steps)" in head
    assert [row[1] for row in rows] == ["time-out"] * 3
    # A choice of columns stays.
    page.reload()
    assert page.locator("button.sort[data-key=frames]").count() == 0


def test_events_are_counted_in_the_file_as_in_the_table(demo_report, open_report):
    """A goal is no event that a value saw, here and there and in the order of rows."""
    page = open_report(demo_report).without_charts().open("#episodes?sort=events")
    with page.expect_download() as started:
        page.click("#download")
    head, *rows = rows_of(started.value)
    column = page.locator("table.episodes tbody td.event-counts")
    seen = [sum(map(int, re.findall(r"\d+", text))) for text in column.all_inner_texts()]
    assert [int(row[head.index("Events")]) for row in rows] == seen
    assert 0 in seen
    assert max(seen) > 0


def test_notes_stay_and_wrong_labels_download_for_the_next_evaluation(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes?outcome=time_out")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    name = page.evaluate("goalward.route.state().id")
    page.click("#notes")
    page.fill("dialog textarea", "<b>it did</b> fall in")
    page.fill("dialog input[type=text]", "done, =1+1")
    page.check("dialog input[type=checkbox]")
    page.click("dialog button:has-text('Keep')")
    assert "<b>it did</b> fall in" in page.inner_text(".note-line")
    page = reader.open("#episodes")
    assert page.locator("label:has-text('Noted') option").all_inner_texts()[3:] == ["=1+1", "done"]
    with page.expect_download() as started:
        page.click("#download-labels")
    assert rows_of(started.value) == [["episode", "outcome"], [name, "success"]]
    with page.expect_download() as started:
        page.click("#download")
    notes = next(row for row in rows_of(started.value) if row[0] == name)
    assert "wrong label; done; =1+1; <b>it did</b> fall in" in notes
