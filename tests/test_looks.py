"""One table of looks: whoever draws takes from it, and the style sheet of the page agrees."""

import re
from pathlib import Path

import goalward
from goalward.looks import EVENT_LOOKS, METHOD_COLOURS, looks_of
from goalward.training.methods.table import METHODS
from goalward.values.events import EventKind

SOURCE = Path(goalward.__file__).parent


def test_every_method_and_every_event_has_a_look():
    assert set(METHOD_COLOURS) == set(METHODS)
    assert len(set(METHOD_COLOURS.values())) == len(METHOD_COLOURS)
    assert set(EVENT_LOOKS) == set(EventKind)


def test_the_page_has_the_colours_of_the_table():
    style = (SOURCE / "report/pages/site/colours.css").read_text()
    light = style[: style.index("data-theme")]
    stated = dict(re.findall(r"--([a-z_]+): (#\w{6});", light))
    assert {kind: stated[kind] for kind in EVENT_LOOKS} == {
        kind: look.colour for kind, look in EVENT_LOOKS.items()
    }


def test_no_file_states_the_colour_of_a_method_or_an_event_again():
    colours = {*METHOD_COLOURS.values(), *(look.colour for look in EVENT_LOOKS.values())}
    # Black and grey are the colours of other things too.
    colours -= {"#000000", "#999999"}
    again = [
        f"{path.relative_to(SOURCE)}: {colour}"
        for path in SOURCE.rglob("*.py")
        if path.name != "looks.py"
        # In quotes alone, not in an example of a docstring.
        for colour in colours & set(re.findall(r'"(#[0-9a-f]{6})"', path.read_text()))
    ]
    assert again == []


def test_what_is_no_method_has_a_colour_that_no_method_has():
    names = [*METHOD_COLOURS, "mine", "yours"]
    looks = looks_of(names)
    assert list(looks) == names
    assert {looks["mine"].colour, looks["yours"].colour}.isdisjoint(METHOD_COLOURS.values())
