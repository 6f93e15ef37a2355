"""The front page and the table in a real browser, from disk."""

import shutil

import pytest

from goalward.report.pages.scripts import write_script

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def ids(page) -> list[str]:
    return page.locator("table.episodes tbody th.id a").all_inner_texts()


def column(page, name: str) -> list[str]:
    return page.locator(f'table.episodes td[data-name="{name}"]').all_inner_texts()


# ---- the front page ---------------------------------------------------------------------------


def test_the_answer_is_there_before_the_charts(demo_report, open_report):
    reader = open_report(demo_report)
    # Charts that never arrive must not keep the numbers back.
    reader.page.route("**/plotly.min.js", lambda route: None)
    page = reader.open(wait_until="commit")
    assert page.inner_text(".big") == "50\u00a0%"
    assert page.inner_text("h1.policy") == "demo policy"
    assert "3 of 6 episodes" in page.inner_text(".main-answer")
    assert page.locator(".card").count() > 0
    assert page.locator(".js-plotly-plot").count() == 0


def test_charts_are_drawn_in_the_colours_of_the_methods(demo_report, open_report):
    page = open_report(demo_report).open()
    page.wait_for_selector("html[data-charts]")
    assert page.locator(".js-plotly-plot").count() == 3
    bar = page.locator(".js-plotly-plot .bars path").first
    # Of liveness: #0072b2.
    assert "rgb(0, 114, 178)" in bar.get_attribute("style")
    assert "plotly" not in page.inner_text("main").lower()


def test_an_answer_in_doubt_is_not_shown_as_sure(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    assert page.inner_text(".trust .medium") == "As a hint only"
    page.click(".trust summary")
    assert "Take what the values of liveness say here as a hint" in page.inner_text(".trust")
    tile = page.locator(".small-answer", has_text="With twice the time")
    assert tile.locator(".medium").inner_text() == "Cannot tell yet"
    assert "more rollouts" in tile.inner_text()
    # What the values say is there for who asks, and without an interval.
    assert "Perhaps" not in tile.inner_text()
    tile.locator("summary").click()
    assert "Perhaps " in tile.inner_text()
    assert "interval" not in tile.inner_text()
    assert tile.locator(".interval").count() == 0


def test_a_card_opens_the_player_at_its_frame(demo_report, open_report):
    reader = open_report(demo_report).without_charts()
    page = reader.open()
    card = page.locator(".card").first
    frame = int(card.locator(".card-frame").inner_text().split()[1])
    assert frame > 0
    picture = card.locator("img")
    assert picture.evaluate("p => p.decode().then(() => p.naturalHeight)") == 160
    card.click()
    page.wait_for_selector(".cursor-label")
    assert reader.frame() == frame


def test_the_command_and_every_setting_are_there(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    assert page.inner_text(".panel .command code") == "goalward evaluate rollouts --out run"
    page.click(".panel .command button")
    page.wait_for_selector(".told.shown")
    page.click("text=config.toml: every setting")
    assert 'policy = "demo policy"' in page.inner_text(".config pre")


def test_how_the_networks_learned_is_drawn_when_it_is_asked_for(demo_report, open_report):
    page = open_report(demo_report).open()
    page.wait_for_selector("html[data-charts]")
    section = page.locator("details.training")
    assert section.locator(".js-plotly-plot").count() == 0
    section.locator("summary").click()
    section.locator(".js-plotly-plot").nth(1).wait_for()
    assert section.locator("h3").all_inner_texts() == ["sparse", "mc"]
    assert "rises while the training loss falls" in section.inner_text()
    traces = section.locator(".plot").first.evaluate(
        "place => place.data.map(({ name, x, y }) => ({ name, x: [...x], y: [...y] }))"
    )
    thin, mean, _, held_out, kept = traces
    assert (mean["name"], held_out["name"], kept["name"]) == ("training", "held out", "kept")
    # Two networks of 20 points each, with a cut after each.
    assert len(thin["x"]) == 42
    assert thin["y"][20] is None
    assert mean["y"][0] == pytest.approx(0.8 * 0.98**10 + 0.005, rel=1e-5)
    assert kept["x"] == [60, 60]
    assert kept["y"] == pytest.approx([0.2, 0.22])
    # Without held-out episodes there is nothing to learn by heart from.
    names = section.locator(".plot").nth(1).evaluate("place => place.data.map(t => t.name)")
    assert "held out" not in names


def test_a_run_without_a_training_log_says_nothing_of_it(long_report, open_report):
    page = open_report(long_report).without_charts().open()
    assert page.locator("h2", has_text="How good the values are").count() == 1
    assert page.locator("details.training").count() == 0


def test_every_kind_of_block_is_shown_as_text(demo_report, open_report):
    page = open_report(demo_report).without_charts().open()
    shown = page.evaluate(
        """() => goalward.words.blocks([
          { kind: "paragraph", role: "text", spans: [["strong", "<b>"], ["", " 5 %"]] },
          { kind: "bullets", items: [[["code", "a"]], [["em", "b"]]] },
          { kind: "table", head: ["method", "score"], rows: [["<i>", "0.5"]], notes: ["a note"] },
          { kind: "picture", address: "data:,", words: "what it shows" },
        ]).map((element) => element.outerHTML)"""
    )
    assert shown == [
        "<p><strong>&lt;b&gt;</strong> 5&nbsp;%</p>",
        '<ul class="plain"><li><code>a</code></li><li><em><bdi>b</bdi></em></li></ul>',
        '<div class="scroll"><table class="scores"><thead><tr><th>method</th>'
        '<th class="number">score</th></tr></thead><tbody><tr><th>&lt;i&gt;</th>'
        '<td class="number">0.5</td></tr></tbody></table><p class="how">a note</p></div>',
        '<img src="data:," alt="what it shows">',
    ]


def test_a_report_without_its_numbers_says_so(demo_report, open_report, tmp_path):
    shutil.copytree(demo_report.parent / "assets", tmp_path / "assets")
    shutil.copy(demo_report, tmp_path)
    reader = open_report(tmp_path / "index.html")
    reader.page.goto((tmp_path / "index.html").as_uri())
    assert "goalward report" in reader.page.inner_text("#problem")
    # The browser's own words on the missing file, and no others.
    assert all("run.js" in text or "ERR_FILE_NOT_FOUND" in text for text in reader.problems)
    assert reader.problems
    reader.problems.clear()


# ---- the table --------------------------------------------------------------------------------


def test_headers_sort_by_mouse_and_by_keyboard(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes")
    recorded = ids(page)
    page.click("button.sort[data-key=frames]")
    lengths = [int(text) for text in column(page, "Length")]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) > 1
    header = page.locator("th", has=page.locator("button.sort[data-key=frames]"))
    assert header.get_attribute("aria-sort") == "descending"
    # The focus stays on the header that was pressed.
    page.keyboard.press("Enter")
    assert [int(text) for text in column(page, "Length")] == sorted(lengths)
    assert header.get_attribute("aria-sort") == "ascending"
    assert reader.address == "episodes?sort=frames&desc=0"
    page.reload()
    assert [int(text) for text in column(page, "Length")] == sorted(lengths)
    page.click("button.sort[data-key=id]")
    assert ids(page) == sorted(recorded, key=int)


def test_what_has_no_number_comes_last_both_ways(demo_report, open_report):
    page = open_report(demo_report).open("#episodes?sort=setback")
    for _ in range(2):
        shown = column(page, "Largest setback")
        assert shown[3:] == ["\N{EN DASH}"] * 3
        assert all(text.isdigit() for text in shown[:3])
        page.click("button.sort[data-key=setback]")


def test_filters_narrow_and_are_in_the_address(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes")
    assert len(ids(page)) == 6
    page.click(".chip[data-outcome=time_out]")
    assert column(page, "Outcome") == ["time-out"] * 3
    late = ids(page)
    page.fill("#search", late[1])
    assert late[1] in ids(page)
    assert len(ids(page)) < 3
    assert reader.address == f"episodes?outcome=time_out&q={late[1]}"
    page.reload()
    assert page.input_value("#search") == late[1]
    page.click("text=Clear filters")
    assert len(ids(page)) == 6
    page.select_option("label:has-text('Has') select", "setback")
    assert ids(page) == late
    page.fill("input[type=number]", "1000")
    assert "No episode is like that" in page.inner_text(".empty")


def test_marks_of_audit_and_curate_are_columns_a_filter_and_reasons(
    demo_report, open_report, tmp_path
):
    report = tmp_path / "report"
    shutil.copytree(demo_report.parent, report)
    reader = open_report(report / "index.html")
    page = reader.open("#episodes")
    assert page.locator("label:has-text('Marked')").count() == 0
    first, second, third = ids(page)[:3]
    found = {"sure": 66, "frame": 7, "words": "<b>called</b> a success"}
    curated = {"decision": "part", "kept": 9, "reasons": ["stalls", "after-goal"]}
    marks = {"audit": {second: [found]}, "curation": {first: curated}}
    write_script(report / "data" / "marks.js", "marks", marks)
    page.reload()
    page.click("button.sort[data-key=audit]")
    assert ids(page)[0] == second
    assert column(page, "To look at")[0] == "66 % sure"
    page.select_option("label:has-text('Marked') select", "part")
    assert ids(page) == [first]
    assert column(page, "Curated") == ["part"]
    page.select_option("label:has-text('Marked') select", "audit")
    page.click("table.episodes tbody tr >> nth=0")
    page.wait_for_selector(".cursor-label")
    assert "look at it, 66 % sure" in page.inner_text(".episode-head")
    assert "<b>called</b> a success" in page.inner_text(".episode-head")
    assert "frame=7" in reader.address
    page = reader.open(f"#episode?id={first}")
    page.wait_for_selector(".cursor-label")
    head = page.inner_text(".episode-head")
    assert "part" in head
    assert "frames kept; dropped by stalls, after-goal" in head
    page = reader.open(f"#episode?id={third}")
    page.wait_for_selector(".cursor-label")
    assert "kept" not in page.inner_text(".episode-head")


def test_back_returns_to_the_table_as_it_was(demo_report, open_report):
    reader = open_report(demo_report)
    page = reader.open("#episodes?sort=frames&outcome=success")
    order = ids(page)
    page.click("table.episodes tbody tr >> nth=1")
    page.wait_for_selector(".cursor-label")
    assert page.inner_text("#page-episode h1") == f"Episode {order[1]}"
    page.go_back()
    page.wait_for_selector("table.episodes")
    assert ids(page) == order
    assert reader.address == "episodes?sort=frames&outcome=success"


def test_a_long_table_has_pages_and_back_returns_to_the_place(long_report, open_report):
    reader = open_report(long_report)
    page = reader.open("#episodes?sort=id")
    assert ids(page) == [f"take {i}" for i in range(50)]
    page.click("text=Next")
    assert ids(page)[0] == "take 50"
    assert reader.address == "episodes?sort=id&page=2"
    page.locator("text=take 90").scroll_into_view_if_needed()
    place = page.evaluate("window.scrollY")
    assert place > 500
    page.click("text=take 90")
    page.wait_for_selector(".cursor-label")
    page.go_back()
    page.wait_for_selector("text=take 90")
    assert ids(page)[0] == "take 50"
    reader.until(f"Math.abs(window.scrollY - {place}) < 3")
    # Another order begins at its first page.
    page.evaluate("window.scrollTo(0, 0)")
    page.click("button.sort[data-key=id]")
    assert ids(page)[0] == "take 119"
    assert "page" not in reader.address


# ---- looks ------------------------------------------------------------------------------------


def test_dark_follows_the_system_until_somebody_chooses(demo_report, open_report):
    reader = open_report(demo_report, color_scheme="dark")
    page = reader.open()
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(15, 18, 22)"
    page.wait_for_selector("html[data-charts]")
    ink = "getComputedStyle(document.querySelector('.js-plotly-plot .xtick text')).fill"
    on_dark = page.evaluate(ink)
    page.click("#theme-switch")
    assert page.evaluate(background) == "rgb(246, 247, 249)"
    reader.until(f"{ink} !== '{on_dark}'")
    page.reload()
    assert page.evaluate(background) == "rgb(246, 247, 249)"
    page.click("#theme-switch")
    assert page.evaluate(background) == "rgb(15, 18, 22)"


@pytest.mark.parametrize("address", ["", "#episodes", "#episode?id=1&frame=20"])
def test_a_phone_scrolls_down_and_never_sideways(demo_report, open_report, address):
    reader = open_report(demo_report, **PHONE)
    page = reader.open(address)
    if not address:
        page.wait_for_selector("html[data-charts]")
    page.wait_for_timeout(200)
    assert not reader.scrolls_sideways()


def test_a_phone_sorts_by_a_list(demo_report, open_report):
    page = open_report(demo_report, **PHONE).open("#episodes")
    assert not page.is_visible("table.episodes thead")
    page.select_option(".sort-field select", "frames")
    lengths = [int(text) for text in column(page, "Length")]
    assert lengths == sorted(lengths, reverse=True)


def test_on_a_phone_names_and_units_have_room(demo_report, open_report):
    page = open_report(demo_report, **PHONE).open("#episodes")
    cells = page.locator("table.episodes tbody td.number")
    assert cells.count() > 20
    assert cells.evaluate_all("all => all.every((cell) => cell.scrollWidth <= cell.clientWidth)")
    unit = (
        "getComputedStyle(document.querySelector('td[data-name=\"Length\"]'), '::before').content"
    )
    assert "frames" in page.evaluate(unit)


def test_names_that_want_to_be_markup_are_text(odd_report, open_report):
    reader = open_report(odd_report)
    page = reader.open("#episodes?sort=id")
    assert "<img src=x onerror=alert(1)>" in ids(page)
    assert page.locator("table.episodes img").count() == 0
    page.click("text=<img src=x onerror=alert(1)>")
    page.wait_for_selector(".cursor-label")
    assert page.inner_text("#page-episode h1") == "Episode <img src=x onerror=alert(1)>"
    assert "</script><b>bold" in page.inner_text(".episode-facts")
    page.reload()
    page.wait_for_selector(".cursor-label")
    assert page.inner_text("#page-episode h1") == "Episode <img src=x onerror=alert(1)>"
    page = reader.without_charts().open()
    assert "<img src=x onerror=alert(1)>" in page.inner_text("main")
    assert page.locator("main img[src=x], main b").count() == 0
