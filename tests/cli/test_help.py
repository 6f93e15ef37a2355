"""`--help`: verbs in the order of use, one first example, nothing that only Python understands."""

import io
import re

import pytest
from rich.console import Console

from goalward.cli.app import app
from goalward.training.methods.table import METHODS

# How the explanation of an option begins, which several verbs have.
BEGINNINGS = {
    "--data": {"Where the rollouts lie now, if they have moved"},
    "--on": {"Who embeds and trains", "Who decodes and encodes", "Who trains"},
    "--workers": {"How many workers of the cluster"},
}
VERBS = [name for name in app if not name.startswith("-")]


def help_text(*verb: str) -> str:
    written = io.StringIO()
    app.help_print([*verb], console=Console(file=written, width=80))
    return written.getvalue()


def test_the_first_example_stands_before_all_verbs():
    text = help_text()
    assert text.index("goalward evaluate demo --out run") < text.index("─ Evaluate a policy")


def test_verbs_come_in_the_order_of_use():
    text = help_text()
    in_order = ["inspect", "evaluate", "view", "compare", "export", "embed", "fit", "simulate"]
    places = [re.search(rf"│ {name} ", text).start() for name in in_order]  # pyright: ignore[reportOptionalMemberAccess]
    assert places == sorted(places)


def test_every_verb_has_one_line():
    lines = [line for line in help_text().splitlines() if line.startswith("│")]
    assert len(lines) == len(VERBS) + len(["--help", "--version"])


@pytest.mark.parametrize("verb", VERBS)
def test_defaults_are_as_they_would_be_typed(verb):
    text = " ".join(help_text(verb).split())
    shown = re.findall(r"\[default: ([^\]]*)\]", text)
    assert not [one for one in shown if one in ("False", "True", "None", "()") or "(" in one]


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "cache"])
def test_examples_can_be_copied(verb):
    """Lines of a shell, each whole: a command, or a comment behind it or above it."""
    text = help_text(verb)
    told = re.split(r"Examples:|For example:", text)
    if len(told) == 1:
        pytest.skip("no examples")
    block = told[1].split("╭")[0]
    lines = [line.strip() for line in block.splitlines() if line.strip()]
    assert lines
    assert not [one for one in lines if not one.startswith(("goalward ", "# ", "ssh "))]


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "cache"])
def test_usage_names_the_arguments_as_the_help_does(verb):
    text = help_text(verb)
    usage = text.split("\n\n")[0]
    arguments = text.split("─ Arguments")[1].split("╰")[0] if "─ Arguments" in text else ""
    named = re.findall(r"^│ +\*? +([A-Z]+) ", arguments, flags=re.MULTILINE)
    named += re.findall(r"^│ ([A-Z]+) ", arguments, flags=re.MULTILINE)
    assert named
    assert [name for name in named if name not in usage] == []
    assert "ARGS" not in usage


@pytest.mark.parametrize("verb", ["evaluate", "fit"])
def test_every_method_is_named(verb):
    words = re.findall(r"[\w-]+", re.sub(r"[│\s]+", " ", help_text(verb)))
    assert [method for method in METHODS if method not in words] == []


@pytest.mark.parametrize("option", ["--data", "--on", "--workers"])
def test_an_option_is_explained_alike_wherever_it_means_the_same(option):
    """`reproduce` calls a folder of data sets --data, and simulators have other workers."""
    told = {
        verb: argument.parameter.help
        for verb in VERBS
        if verb not in ("cache", "reproduce", "simulate", "truth")
        for argument in app[verb].assemble_argument_collection(parse_docstring=True)
        if argument.name == option and argument.parameter.help
    }
    beginnings = {re.split(r"[.:(]", " ".join(text.split()))[0] for text in told.values()}
    assert len(told) > 2
    assert beginnings <= BEGINNINGS[option], told
