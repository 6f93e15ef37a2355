"""The player in a real browser: videos and curve move as one."""

import re
import threading
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from goalward.report.pages.serving import PageServer
from report.pages.browser.conftest import PATIENCE_MS, POLL_MS

FPS = 5.0


@pytest.fixture
def late(demo_report) -> str:
    """The address of the first episode that timed out: 63 frames and a slip at the 31st."""
    text = (demo_report.parent / "data" / "run.js").read_text()
    found = re.search(r'"id":"(\w+)","task":0,"outcome":"time_out"', text)
    assert found is not None
    return f"#episode?id={found[1]}"


def frame_shown(time: float, fps: float = FPS) -> int:
    return int(time * fps + 1e-6)


def drag(page, parts: list[float]) -> None:
    """Press on the curve and drag along it; 0 is its left end, 1 its right end."""
    box = page.locator(".curve-area").bounding_box()
    # The margins of curve.js.
    left, right = box["x"] + 46, box["x"] + box["width"] - 50
    middle = box["y"] + box["height"] / 2
    page.mouse.move(left + parts[0] * (right - left), middle)
    page.mouse.down()
    for part in parts[1:]:
        page.mouse.move(left + part * (right - left), middle, steps=4)
    page.mouse.up()


def test_the_cursor_moves_with_the_video(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    start = reader.cursor_x()
    assert reader.frame() == 0
    page.click(".play")
    reader.until("document.querySelector('video').currentTime > 1.2")
    # In one go, so that nothing moves between the readings.
    time, frame = page.evaluate(
        "[document.querySelector('video').currentTime,"
        " Number(document.querySelector('.curve-slider').getAttribute('aria-valuenow'))]"
    )
    assert abs(frame - frame_shown(time)) <= 1
    assert reader.cursor_x() > start + 50
    page.click(".play")
    stopped = reader.frame()
    times = reader.times()
    assert len(times) == 2
    assert [frame_shown(time) for time in times] == [stopped, stopped]
    width = page.evaluate("document.querySelector('.curve-area').clientWidth")
    assert reader.cursor_x() == pytest.approx(46 + (width - 96) * stopped / 62, abs=1)
    assert page.inner_text(".cursor-label") == str(stopped)


def test_the_number_of_a_late_frame_stays_on_one_line(demo_report, open_report, late):
    page = open_report(demo_report).open_episode(late)
    heights = page.evaluate(
        "[7, 4999].map((frame) => { const label = document.querySelector('.cursor-label');"
        " label.textContent = frame; return label.offsetHeight; })"
    )
    assert heights[0] == heights[1]


def test_cameras_play_in_step_and_stop_at_the_end(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(f"{late}&frame=50")
    page.select_option("#speed", "4")
    page.click(".play")
    assert page.eval_on_selector_all("video", "all => all.every(v => v.playbackRate > 3.5)")
    reader.until("document.querySelector('.play').ariaLabel === 'Play (space)'")
    assert reader.frame() == 62
    assert [frame_shown(time) for time in reader.times()] == [62, 62]
    # Once more from the start.
    page.click(".play")
    reader.until("document.querySelector('video').currentTime < 5")


def test_dragging_on_the_curve_moves_every_video(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    drag(page, [0.2, 0.9, 0.5])
    assert reader.frame() == 31
    assert reader.times() == pytest.approx([31.5 / FPS] * 2)
    drag(page, [0.5, 2.0])
    assert reader.frame() == 62
    reader.until("location.hash.includes('frame=62')")


def test_dragging_while_it_plays_goes_on_playing_from_there(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    page.click(".play")
    reader.until("document.querySelector('video').currentTime > 0.3")
    drag(page, [0.3, 0.5])
    reader.until("document.querySelector('video').currentTime > 6.6")
    assert reader.frame() > 31
    page.keyboard.press("Space")


def test_a_finger_on_the_curve_moves_the_video(demo_report, open_report, late):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    reader = open_report(demo_report, **phone)
    page = reader.open_episode(late)
    page.locator(".curve-area").scroll_into_view_if_needed()
    box = page.locator(".curve-area").bounding_box()
    left, right = box["x"] + 46, box["x"] + box["width"] - 50
    page.touchscreen.tap((left + right) / 2, box["y"] + 120)
    reader.until("document.querySelector('.curve-slider').getAttribute('aria-valuenow') === '31'")
    assert reader.times() == pytest.approx([31.5 / FPS] * 2)


# How many pixels of the curve have about this colour.
COUNT = """([red, green, blue]) => {
  const canvas = document.querySelector('.curve-canvas');
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext('2d', { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, copy.width, copy.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const far = Math.abs(data[i] - red) + Math.abs(data[i+1] - green) + Math.abs(data[i+2] - blue);
    if (data[i + 3] > 200 && far < 40) count += 1;
  }
  return count;
}"""
TD_COLOUR = [0xE6, 0x9F, 0x00]


def test_methods_come_and_go(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    assert page.evaluate(COUNT, TD_COLOUR) == 0
    page.click(".chip[data-method=td]")
    assert page.get_attribute(".chip[data-method=td]", "aria-pressed") == "true"
    assert page.evaluate(COUNT, TD_COLOUR) > 300
    assert "methods=liveness%2Ctd" in reader.address
    page.click(".chip[data-method=td]")
    assert page.evaluate(COUNT, TD_COLOUR) == 0
    assert "methods" not in reader.address


def test_the_scale_can_be_steps_to_go(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(f"{late}&frame=10")
    # 45 - 10 for one seed, 1.5 more for the other.
    assert page.inner_text(".chip[data-method=liveness] .reading") == "36 steps"
    page.click(".segment[data-scale=steps]")
    assert page.get_attribute(".segment[data-scale=steps]", "aria-pressed") == "true"
    assert "scale=steps" in reader.address


def test_everything_has_a_key(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    for key, frame in [
        ("ArrowRight", 1),
        ("Shift+ArrowRight", 11),
        ("ArrowLeft", 10),
        ("End", 62),
        ("Shift+ArrowLeft", 52),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        page.keyboard.press(key)
        assert reader.frame() == frame, key
    page.keyboard.press("Space")
    reader.until("document.querySelector('video').currentTime > 0.5")
    page.keyboard.press("Space")
    assert page.get_attribute(".play", "aria-label") == "Play (space)"
    # A chip that was clicked is not pressed again by the key that plays.
    page.click(".chip[data-method=td]")
    page.keyboard.press("Space")
    assert page.get_attribute(".play", "aria-label") == "Pause (space)"
    assert page.get_attribute(".chip[data-method=td]", "aria-pressed") == "true"
    page.keyboard.press("Space")
    page.keyboard.press("m")
    page.keyboard.press("m")
    assert page.locator(".chip[data-method][aria-pressed=true]").count() == 3
    page.keyboard.press("3")
    assert page.locator(".chip[data-method][aria-pressed=true]").count() == 2
    page.keyboard.press("?")
    assert page.is_visible("dialog.help")
    page.keyboard.press("Escape")
    assert not page.is_visible("dialog.help")
    page.keyboard.press("Escape")
    page.wait_for_selector("table.episodes")


def test_what_is_noted_on_the_way_out_does_not_lead_back(demo_report, open_report, late):
    """The frame is noted in the address a moment after it is shown; by then one may have left."""
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    page.evaluate("goalward.route.go(goalward.route.toTable); goalward.route.note({ frame: '7' })")
    page.wait_for_selector("table.episodes")
    assert reader.address == "episodes"


def test_next_and_previous_follow_the_order_of_the_table(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes?sort=frames&desc=0&outcome=success")
    order = page.locator("table.episodes tbody th.id a").all_inner_texts()
    assert len(order) == 3
    page.click(f"table.episodes a[data-id='{order[0]}']")
    for wanted in (order[1], order[2]):
        page.wait_for_selector(".cursor-label")
        page.keyboard.press("n")
        reader.until(f"document.querySelector('#page-episode h1').innerText === 'Episode {wanted}'")
    page.keyboard.press("n")
    assert "last episode" in page.inner_text("#told")
    page.keyboard.press("p")
    reader.until(f"document.querySelector('#page-episode h1').innerText === 'Episode {order[1]}'")


def test_quick_presses_all_count_while_episodes_are_on_their_way(long_report, open_report):
    reader = open_report(long_report).without_charts()
    page = reader.open("#episodes?sort=id")
    page.click("text=take 0")
    page.wait_for_selector(".cursor-label")
    # A slow disk: every episode takes longer than the presses do.
    page.evaluate(
        """() => {
          const load = goalward.loadEpisode;
          goalward.loadEpisode = async (position) => {
            await new Promise((go) => setTimeout(go, 400));
            return load(position);
          };
        }"""
    )
    for presses, arrived in ((30, "take 30"), (10, "take 40")):
        for _ in range(presses):
            page.keyboard.press("n")
        reader.until(
            f"document.querySelector('#page-episode h1').innerText === 'Episode {arrived}'"
        )
    page.wait_for_timeout(600)
    assert page.inner_text("#page-episode h1") == "Episode take 40"


def test_keys_in_a_dialog_and_on_a_box_do_what_they_seem_to(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    title = page.inner_text("#page-episode h1")
    page.click("#notes")
    page.focus("dialog >> text=Cancel")
    for key in ("n", "?", "Escape"):
        page.keyboard.press(key)
    # The dialog is closed, and nothing happened under it.
    assert page.locator("dialog[open]").count() == 0
    assert page.inner_text("#page-episode h1") == title
    assert reader.address.startswith("episode?")
    page.click(".traces summary")
    page.check(".trace-choice input >> nth=0")
    page.keyboard.press("ArrowRight")
    assert reader.frame() == 1
    page.keyboard.press("Space")
    assert not page.is_checked(".trace-choice input >> nth=0")


def test_a_link_opens_the_same_frame_with_the_same_methods(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    page.click(".chip[data-method=mc]")
    drag(page, [0.1, 0.25])
    frame = reader.frame()
    reader.until(f"location.hash.includes('frame={frame}')")
    link = "#" + reader.address
    other = open_report(demo_report)
    page = other.open_episode(link)
    assert other.frame() == frame
    assert [frame_shown(time) for time in other.times()] == [frame, frame]
    assert page.get_attribute(".chip[data-method=mc]", "aria-pressed") == "true"


def test_an_event_can_be_gone_to_from_its_mark_and_from_its_picture(demo_report, open_report, late):
    reader = open_report(demo_report)
    page = reader.open_episode(late)
    card = page.locator(".event-card.setback").first
    frame = int(card.get_attribute("data-frame"))
    assert 25 <= frame <= 37
    assert card.locator("img").evaluate("p => p.decode().then(() => p.naturalHeight)") == 160
    card.click()
    assert reader.frame() == frame
    assert "now" in card.get_attribute("class")
    page.keyboard.press("Home")
    page.click(".mark.setback")
    assert reader.frame() == frame
    assert [frame_shown(time) for time in reader.times()] == [frame, frame]


# ---- other episodes ---------------------------------------------------------------------------


def test_three_cameras_are_in_step(odd_report, open_report):
    reader = open_report(odd_report)
    page = reader.open_episode("#episode?id=three")
    assert page.locator("video").count() == 3
    assert page.locator(".camera figcaption").all_inner_texts() == ["left", "right", "wrist"]
    drag(page, [0.1, 0.5])
    frame = reader.frame()
    assert [frame_shown(time, 20.0) for time in reader.times()] == [frame] * 3


def test_without_a_video_the_curve_plays_alone(odd_report, open_report):
    reader = open_report(odd_report)
    page = reader.open_episode("#episode?id=none")
    assert page.locator("video").count() == 0
    # All of it is infinitely far.
    assert page.inner_text(".chip[data-method=td] .reading") == "never"
    page.click(".play")
    reader.until(
        "Number(document.querySelector('.curve-slider').getAttribute('aria-valuenow')) > 3"
    )
    page.click(".play")
    stopped = reader.frame()
    page.wait_for_timeout(300)
    assert reader.frame() == stopped


def test_a_video_that_cannot_be_played_is_told_and_the_other_plays(odd_report, open_report):
    reader = open_report(odd_report)
    page = reader.open("#episode?id=damaged")
    page.wait_for_selector("text=This video is missing or cannot be played here.")
    assert page.locator("video").count() == 1
    reader.until("document.querySelector('video').readyState >= 2")
    page.click(".play")
    reader.until("document.querySelector('video').currentTime > 0.3")
    assert reader.frame() > 3
    page.click(".play")


def test_an_episode_that_is_not_there_is_told(demo_report, open_report):
    page = open_report(demo_report).open("#episode?id=no such")
    assert "There is no episode no such" in page.inner_text(".problem:visible")
    page.click("text=All episodes")
    page.wait_for_selector("table.episodes")


# ---- two side by side -------------------------------------------------------------------------


@pytest.mark.parametrize("is_served", [False, True])
def test_two_episodes_side_by_side_move_as_one(demo_report, browser, is_served):
    """From disk, and by `goalward view`, whose rules must allow the two frames."""
    named = urlencode({"id": "1", "policy": "before <b>"})
    sides = {"a": f"index.html#episode?{named}", "b": "index.html#episode?id=2"}
    server = PageServer(demo_report.parent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start = server.url if is_served else f"{demo_report.parent.as_uri()}/"
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        page.goto(f"{start}beside.html#{urlencode(sides)}")
        players = [page.frame_locator("iframe").nth(i) for i in range(2)]
        sliders = [player.locator(".curve-slider") for player in players]
        for slider in sliders:
            slider.wait_for(timeout=PATIENCE_MS)
        sliders[0].focus()
        page.keyboard.press("Shift+ArrowRight")
        for _ in range(PATIENCE_MS // POLL_MS):
            frames = [slider.get_attribute("aria-valuenow") for slider in sliders]
            if frames == ["10", "10"]:
                break
            page.wait_for_timeout(POLL_MS)
        assert frames == ["10", "10"]
        whose = [player.locator(".whose").inner_text() for player in players]
        assert whose == ["before <b>", "demo policy"]
    finally:
        context.close()
        server.shutdown()
        server.server_close()


def test_the_frame_that_is_shown_stays_beside_another_episode(demo_report, open_report):
    page = open_report(demo_report).without_charts().open_episode("#episode?id=1&frame=20")
    assert page.locator(".whose").count() == 0
    page.click("#beside")
    page.click("dialog button:has-text('Show both')")
    page.wait_for_url("**/beside.html#*")
    asked = parse_qs(urlsplit(page.url).fragment)
    assert [parse_qs(asked[side][0].partition("?")[2])["frame"] for side in "ab"] == [
        ["20"],
        ["20"],
    ]
