"""After the last picture: tables, events, checksums, and last info.json, which says it is done."""

import csv
import hashlib
import shutil
from collections.abc import Mapping, Sequence

from goalward.checksums import sha256_of
from goalward.files import written_whole
from goalward.simulate.recording.data_set import SimulatedDataSet, SimulationSettings
from goalward.simulate.recording.episode_jobs import WorldFacts
from goalward.simulate.recording.episode_video import PictureColours
from goalward.simulate.recording.lerobot_writer import LeRobotWriter
from goalward.simulate.recording.trace import Trace
from goalward.simulate.tasks import find_task


def write_results(
    data_set: SimulatedDataSet,
    settings: SimulationSettings,
    world: WorldFacts,
    chosen: list[int],
    pictures: Sequence[Mapping[str, PictureColours]],
) -> None:
    """All that is told of the episodes and pictures that are there; attempts are gone then."""
    traces: list[Trace] = []
    for episode_index, number in enumerate(chosen):
        traces.append(Trace.read(data_set.attempt_file(number)))
        with written_whole(data_set.trace_file(episode_index)) as temporary:
            shutil.copyfile(data_set.attempt_file(number), temporary)
    writer = LeRobotWriter(
        data_set, world, find_task(settings.task).instruction, settings.fps, settings.size
    )
    writer.write_tables(traces, pictures)
    _write_events(data_set, traces)
    settings.write(data_set.settings_file)
    info = writer.info(traces).encode()
    _write_checksums(data_set, info)
    with written_whole(data_set.info_file) as temporary:
        temporary.write_bytes(info)
    shutil.rmtree(data_set.attempts_folder)


def _write_events(data_set: SimulatedDataSet, traces: list[Trace]) -> None:
    with (
        written_whole(data_set.events_file) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["episode_index", "frame_index", "event"])
        for episode_index, trace in enumerate(traces):
            rows.writerows([episode_index, frame, event] for frame, event in trace.events)


def _write_checksums(data_set: SimulatedDataSet, info: bytes) -> None:
    """Of every file but itself; info.json, which is written last, by what it will be."""
    remove_leftovers(data_set)
    checksums = {data_set.info_file: hashlib.sha256(info).hexdigest()}
    left_out = {data_set.checksums_file, data_set.lock_file}
    for path in data_set.path.rglob("*"):
        if path.is_file() and path not in left_out and data_set.attempts_folder not in path.parents:
            checksums[path] = sha256_of(path)
    lines = sorted(
        (path.relative_to(data_set.path).as_posix(), checksums[path]) for path in checksums
    )
    with written_whole(data_set.checksums_file) as temporary:
        temporary.write_text(
            "".join(f"{checksum}  {name}\n" for name, checksum in lines), encoding="utf-8"
        )


def remove_leftovers(data_set: SimulatedDataSet) -> None:
    """Files that a killed process was about to write."""
    for folder in ("data", "meta", "videos", data_set.simulation_folder.name):
        for path in (data_set.path / folder).rglob(".*"):
            if path.is_file() and path != data_set.lock_file:
                path.unlink(missing_ok=True)
