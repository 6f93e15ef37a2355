"""The site as people see it: from disk and from a server, light, dark and on a phone."""

import gzip
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from docs_site.test_pages import pages

PHONE, DESK = {"width": 390, "height": 800}, {"width": 1300, "height": 900}
SHOWN = ("index.html", "gallery.html", "reference/commands.html", "methods/lambda_returns.html")
FIRST_PAGE_BYTES = 300_000
PACKED = (".html", ".css", ".js", ".json")


class Visitor:
    """Opens pages and notices what goes wrong."""

    def __init__(self, browser, **options) -> None:
        self.problems: list[str] = []
        self.page = browser.new_context(**options).new_page()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("requestfailed", self._on_failed)

    def _on_console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{self.page.url}: {message.text}")

    def _on_failed(self, request) -> None:
        # Leaving a page ends what it was still loading.
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"{request.url}: {request.failure}")


@pytest.fixture(scope="module")
def visitor(browser):
    return Visitor(browser, viewport=DESK)


def test_every_page_opens_with_its_pictures_and_without_a_word_of_complaint(site, visitor):
    """Tables of results are plain text, and the gallery has the next test to itself."""
    missing = "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
    at_once = "document.querySelectorAll('img').forEach(i => i.loading = 'eager')"
    all_there = "[...document.images].every(i => i.complete)"
    for path in pages(site):
        if "results" in path.parts or path.name == "gallery.html":
            continue
        visitor.page.goto(path.as_uri(), wait_until="domcontentloaded")
        visitor.page.evaluate(at_once)
        visitor.page.wait_for_function(all_there)
        assert visitor.page.evaluate(missing) == [], path
        assert visitor.problems == [], path


def test_the_report_in_the_gallery_is_alive(site, visitor):
    visitor.page.goto((site / "gallery.html").as_uri())
    report = visitor.page.frame_locator("iframe.report")
    report.locator("html[data-ready]").wait_for(state="attached")
    assert "success" in report.locator("body").inner_text().lower()
    assert visitor.problems == []


@pytest.mark.parametrize("name", SHOWN)
def test_a_phone_need_not_scroll_sideways(site, browser, name):
    phone = Visitor(browser, viewport=PHONE)
    phone.page.goto((site / name).as_uri(), wait_until="domcontentloaded")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert phone.problems == []


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 900}], ids=["phone", "desk"])
@pytest.mark.parametrize(
    "name", ["start/rollouts.html", "curating.html", "reference/python.html", "methods/td.html"]
)
def test_no_line_of_code_goes_beyond_the_edge(site, browser, name, viewport):
    """Nobody looks for the end of a sentence by scrolling sideways."""
    page = Visitor(browser, viewport=viewport).page
    page.goto((site / name).as_uri(), wait_until="domcontentloaded")
    beyond = (
        "[...document.querySelectorAll('pre code')].filter(c => c.scrollWidth > c.clientWidth + 1)"
    )
    assert page.evaluate(f"document.querySelectorAll('pre code').length && {beyond}.length") == 0
    # Each line is an element that goes on below, a little to the right.
    lines = page.locator("pre > code > span:is(.line, [id*=__line-])")
    assert lines.count() >= page.locator("pre > code").count()


def test_light_and_dark_as_the_system_says(site, browser):
    shades = {}
    for scheme in ("light", "dark"):
        seen = Visitor(browser, viewport=DESK, color_scheme=scheme)
        seen.page.goto((site / "index.html").as_uri())
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        parts = [float(part) for part in colour.strip("rgba()").split(",")[:3]]
        shades[scheme] = sum(parts) / 3
        assert seen.problems == []
    assert shades["light"] > 200
    assert shades["dark"] < 80


class Packing(SimpleHTTPRequestHandler):
    """A server as they are: text is sent packed."""

    def do_GET(self) -> None:
        path = self.translate_path(self.path)
        if not path.endswith(PACKED):
            return super().do_GET()
        with open(path, "rb") as file:  # noqa: PTH123
            body = gzip.compress(file.read())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Packing, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_the_first_page_is_light(address, browser):
    visitor = Visitor(browser, viewport=DESK)
    sizes: dict[str, int] = {}
    visitor.page.on(
        "requestfinished", lambda r: sizes.update({r.url: r.sizes()["responseBodySize"]})
    )
    visitor.page.goto(address + "index.html", wait_until="networkidle")
    assert len(sizes) > 5
    assert sum(sizes.values()) < FIRST_PAGE_BYTES, sizes
    assert visitor.problems == []


@pytest.mark.parametrize("where", ["disk", "server"])
def test_search_finds(site, address, browser, where):
    visitor = Visitor(browser, viewport=DESK)
    visitor.page.goto((address if where == "server" else site.as_uri() + "/") + "index.html")
    visitor.page.click("[data-md-component=search-query]")
    visitor.page.keyboard.type("setback")
    found = visitor.page.locator(".md-search-result__item", has_text="Events").first
    found.wait_for()
    assert visitor.problems == []


SOUGHT = {
    "glossary": "Words",
    "success rate": "Evaluate",
    "compare policies": "Which policy is better",
    "install": "Install and try",
    "export": "Values in other tools",
    "labels": "Auditing labels",
}


@pytest.mark.parametrize("words", SOUGHT)
def test_search_finds_the_guide_before_the_reference(site, browser, words):
    page = Visitor(browser, viewport=DESK).page
    page.goto((site / "index.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type(words)
    # The list is filled anew with every letter.
    first = "document.querySelector('.md-search-result__item h1')?.innerText"
    page.wait_for_function(
        f"title => {first}?.startsWith(title)", arg=SOUGHT[words], timeout=30_000
    )
