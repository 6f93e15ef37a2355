"""Every command in README and docs is one that works: it is run, or it is said why not.

All of them are read by the command line's own parser. Those that take no training, hub, simulator
or people are run, page by page, in a folder that has what pages speak of: `my_rollouts`, `run`. A
command of a new page that does not run there fails until somebody says why.
"""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cyclopts import CycloptsError, MissingArgumentError
from rollout_files import hdf5, lerobot, rlds, videos

import goalward
from goalward.cli.app import app
from goalward.cli.console import telling
from goalward.errors import speaking_of_flags
from report.pages.browser.demo_run import write_demo_run

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "case_studies").glob("**/README.md")),
]
# Why a command is read and not run, by what it looks like; the first that fits.
WHY_NOT = {
    r"^goalward (simulate|truth|reproduce)": "needs a simulator and minutes to hours",
    r"^goalward view": "waits for people until Ctrl-C",
    r"^goalward (evaluate|embed)": "encodes and learns for minutes; tests/cli and `make demo` do",
    r"^goalward (fit|predict)": "minutes of training; the Python beside it is run",
    r"^goalward audit train_set": "needs two recordings",
    r"^goalward audit run": "the run of these tests is drawn, its networks were never trained",
    r"^goalward curate": "the run of these tests is drawn",
    r"^goalward push(?!.* --to )": "needs a hub; tests/exports/test_hub.py has a stand-in",
    r"^goalward monitor": "needs networks of a real training",
    r"--to (lerobot|rlinf|evo)": "refuses values that were drawn; tests/exports has trusted ones",
    r"--to rerun": "needs the extra rerun",
    r"--to onnx": "the run of these tests is drawn, its networks were never trained",
    r"libero10_openvla_results": "public tables that are not in the repository",
    r"\w://": "needs a store that is reached over a network; tests/stores has one in memory",
    r"^make": "CI runs install and check; that the target is there is checked below",
    r"^python": "measures for minutes to days; its file and its options are checked below",
    r"^goalward --": "tests/cli/test_help.py and tests/test_versions.py",
}


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    text: str
    is_mention: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"

    @property
    def why_not(self) -> str:
        return next((why for look, why in WHY_NOT.items() if re.search(look, self.text)), "")


def commands(path: Path) -> list[Command]:
    """Lines of code blocks, and code within text, that begin with a program of ours."""
    lines = path.read_text().splitlines()
    found: list[Command] = []
    is_fenced = False
    for number, line in enumerate(lines, start=1):
        is_fenced ^= line.startswith("```")
        is_mention = not is_fenced and not line.startswith("    ")
        texts = re.findall(r"`([^`]+)`", line) if is_mention else [line]
        for text in texts:
            text = text.strip().removeprefix("$ ").removeprefix(".venv/bin/")
            while text.endswith("\\"):
                text = text[:-1] + lines[number].strip()
                number += 1
            if re.match(r"(goalward [a-z-]|make [a-z]|python \w+/)", text):
                text = re.sub(r"\s#\s.*", "", text).strip()
                found.append(Command(str(path.relative_to(ROOT)), number, text, is_mention))
    return found


ALL = [command for page in PAGES for command in commands(page)]
PLACEHOLDERS = {"DIR": "folder", "PATH": "folder", "DATA": "folder", "RUN": "run", "NAME": "a/b"}


def words_of(command: Command) -> list[str]:
    text = command.text.split("|")[0].split(">")[0].split("&&")[0]
    return [PLACEHOLDERS.get(word, word) for word in shlex.split(text)]


def is_whole(command: Command) -> bool:
    """Not the name of a verb in a sentence, nor one whose arguments are left out."""
    is_named_only = command.is_mention and len(words_of(command)) <= 2
    return not is_named_only and "..." not in command.text


def leaves_out(command: Command) -> str:
    """A command in a sentence that leaves out what every reader knows, as `export --to csv`."""
    try:
        if command.is_mention:
            app.parse_args(words_of(command)[1:], exit_on_error=False, print_error=False)
    except MissingArgumentError as error:
        return str(error)
    except CycloptsError:
        # A test of its own.
        pass
    is_placeholder = command.is_mention and set(PLACEHOLDERS) & set(command.text.split())
    return "stands for any path" if is_placeholder else ""


def test_commands_are_found():
    assert len(ALL) > 80
    assert {"README.md", "docs/start/lerobot.md"} <= {command.page for command in ALL}
    # As typed after a prompt, with what it prints below.
    assert [c for c in ALL if c.page == "README.md" and c.text.startswith("goalward evaluate demo")]


def test_every_command_of_ours_is_one_that_the_command_line_understands():
    wrong: list[str] = []
    for command in ALL:
        program, *words = words_of(command)
        if program != "goalward":
            continue
        verb = words[0]
        if verb.startswith("-"):
            continue
        if verb not in app:
            wrong.append(f"{command}: no such verb")
        elif is_whole(command):
            try:
                app.parse_args(words, exit_on_error=False, print_error=False)
            except CycloptsError as error:
                # `goalward export --to rerun` in a sentence leaves out what every reader knows.
                if not (command.is_mention and isinstance(error, MissingArgumentError)):
                    wrong.append(f"{command}: {error}")
    assert not wrong, "\n".join(wrong)


def test_every_target_of_make_and_every_script_is_there():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    wrong: list[str] = []
    for command in ALL:
        program, *words = words_of(command)
        if program == "make":
            named = [w for w in words if re.fullmatch("[a-z-]+", w)]
            wrong += [f"{command}: no target {w}" for w in named if w not in targets]
        elif program == "python":
            script = ROOT / words[0]
            if not script.is_file():
                wrong.append(f"{command}: no such file")
                continue
            text = script.read_text()
            options = [w.partition("=")[0] for w in words if w.startswith("--")]
            wrong += [
                f"{command}: no option {o}"
                for o in options
                if o not in text and o[2:].replace("-", "_") not in text
            ]
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    """A folder with the things that pages speak of."""
    monkeypatch.chdir(tmp_path)
    episodes = [lerobot.make_episode(12, n % 2 == 0, seed=n) for n in range(8)]
    lerobot.write_lerobot(tmp_path / "my_rollouts", episodes)
    hdf5.write(
        tmp_path / "can.hdf5",
        {f"demo_{n}": hdf5.robomimic_demo(20, 15 if n % 2 else None, n) for n in range(8)},
        masks={"train": [b"demo_0", b"demo_1"]},
    )
    (tmp_path / "libero").mkdir()
    hdf5.write_libero(tmp_path / "libero" / "open_the_drawer_demo.hdf5")
    (tmp_path / "rlds").mkdir()
    records = [rlds.make_episode(8, n % 2 == 0, seed=n) for n in range(8)]
    rlds.write_data_set(tmp_path / "rlds" / "1.0.0", records)
    endings = ["failure", "success"] * 4
    paths = [Path(f"take_{n}", f"rollout_fold_{end}.mp4") for n, end in enumerate(endings)]
    for path in paths:
        (tmp_path / "videos" / path).parent.mkdir(parents=True)
        videos.write_video(tmp_path / "videos" / path, 12)
    write_demo_run(tmp_path / "run", num_each=1)
    # Drawn runs have no networks; `push --to folder` looks only whether there are some.
    ramp = np.linspace(0, 1, 8)[:, None]
    toy = goalward.from_arrays([ramp, -ramp] * 2, success=[True, False] * 2)
    fitted = goalward.fit(toy, ["mc"], seeds=1, width=8, num_layers=1, num_steps=5, device="cpu")
    fitted.save(tmp_path / "run" / "networks")
    # Of other episodes: a copy of a run is not compared with it.
    write_demo_run(tmp_path / "run_b", num_each=2)
    write_demo_run(tmp_path / "run_c", num_each=3)
    shutil.copytree(tmp_path / "run", tmp_path / "run_a")
    (tmp_path / "outcomes.csv").write_text(
        "episode_index,success\n" + "".join(f"{n},{n % 2 == 0}\n" for n in range(8))
    )
    (tmp_path / "videos.csv").write_text(
        "path,success\n" + "".join(f"{path},{n % 2}\n" for n, path in enumerate(paths))
    )
    for name in ("a", "b", "c", "old", "new", "baseline", "candidate", "step_1k", "step_2k"):
        rows = "".join(f"{n % 3 > 0}\n" for n in range(9 + len(name)))
        (tmp_path / f"{name}.csv").write_text("success\n" + rows)
    rows = "".join(f"{p},{n},{n % k > 0}\n" for p, k in (("x", 2), ("y", 3)) for n in range(8))
    (tmp_path / "all.csv").write_text("policy,episode,success\n" + rows)
    rows = "".join(f"{n % 2 > 0},{n % 3 > 0}\n" for n in range(8))
    (tmp_path / "wide.csv").write_text("old,new\n" + rows)
    rows = "".join(f"x,y,{'x' if n % 3 else 'y'}\n" for n in range(8))
    (tmp_path / "votes.csv").write_text("policy_a,policy_b,winner\n" + rows)
    for name in ("a", "b"):
        shutil.copytree(tmp_path / f"run_{name}", tmp_path / "runs" / name)
    return tmp_path


def test_what_is_typed_works(desk, capsys):
    done: list[str] = []
    failed: list[str] = []
    for command in ALL:
        if not is_whole(command) or command.why_not or leaves_out(command):
            continue
        _, *words = words_of(command)
        episodes = [e.id for e in goalward.open_run("run").episodes]
        words = _with_episodes_of(words, episodes)
        # As a shell does.
        words = [f for w in words for f in (sorted(map(str, desk.glob(w))) if "*" in w else [w])]
        try:
            with speaking_of_flags(), telling():
                app(words, exit_on_error=False, print_error=False, result_action="return_value")
            done.append(command.text)
        except SystemExit as stopped:
            if stopped.code:
                failed.append(f"{command}: {capsys.readouterr().out}")
            else:
                done.append(command.text)
        except Exception as error:
            failed.append(f"{command}: {error}")
    assert not failed, "\n".join(failed)
    assert len(done) > 30, done


def _with_episodes_of(words: list[str], ids: list[str]) -> list[str]:
    """Pages speak of episodes 12 and 3,7; the run here has two others."""
    if words[0] == "sheet":
        options = words.index("--columns") if "--columns" in words else len(words)
        return [*words[:2], ids[0], *words[options:]]
    if "--episodes" in words:
        words[words.index("--episodes") + 1] = ",".join(ids)
    return words
