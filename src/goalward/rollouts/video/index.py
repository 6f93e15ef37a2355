"""How many frames a video file holds and when each is shown, without decoding any.

MP4 keeps this in its sample tables; other containers are demuxed with PyAV.
"""

from dataclasses import dataclass
from pathlib import Path

import av
import av.error
import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.video.container import container_of
from goalward.rollouts.video.mp4_tables import CODEC_NAMES, SampleTables, read_tables
from goalward.stores.fetching import fetched

_DECODER_CODECS = {"libdav1d": "av1", "libaom-av1": "av1", "libvpx-vp9": "vp9"}
# Other names of codecs: of MP4 files, of encoders, of people.
_ALIASES = {
    **{name.decode(): codec for name, codec in CODEC_NAMES.items()},
    **_DECODER_CODECS,
    "avc": "h264",
    "libx264": "h264",
    "h265": "hevc",
    "libx265": "hevc",
    "libsvtav1": "av1",
}
TURNED = "the video says to turn its pictures when shown; frames are used as they are stored"


@dataclass(frozen=True)
class VideoIndex:
    """What a video file holds: `timestamps` are seconds after the first frame, in order of
    display, one per frame.

    `num_intact` counts the frames, in order of storage, whose bytes lie inside the file; it is
    less than the number of frames if the file was cut. `is_turned`: a player would turn the
    pictures (known of MP4 only). `file_size` is 0 where it is not known.
    """

    codec: str
    width: int
    height: int
    timestamps: npt.NDArray[np.float64]
    num_intact: int
    is_turned: bool = False
    file_size: int = 0

    @property
    def num_frames(self) -> int:
        return len(self.timestamps)


def usual_codec_name(name: str) -> str:
    """What FFmpeg calls a codec, whatever a data set calls it.

    >>> usual_codec_name("mp4v"), usual_codec_name("H265"), usual_codec_name("av1")
    ('mpeg4', 'hevc', 'av1')
    """
    return _ALIASES.get(name.lower(), name.lower())


def read_index(path: Path) -> VideoIndex:
    """The index of the first video stream; RolloutError if there is none to be had."""
    tables = read_tables(path) if container_of(path) == "mp4" else None
    return _demuxed_index(path) if tables is None else _index_of(tables)


def _index_of(tables: SampleTables) -> VideoIndex:
    beyond_the_end = np.flatnonzero(tables.offsets + tables.sizes > tables.file_size)
    return VideoIndex(
        codec=tables.codec,
        width=tables.width,
        height=tables.height,
        timestamps=np.sort(tables.ticks) / tables.ticks_per_s,
        num_intact=int(beyond_the_end[0]) if len(beyond_the_end) else len(tables.sizes),
        is_turned=tables.is_turned,
        file_size=tables.file_size,
    )


def _demuxed_index(path: Path) -> VideoIndex:
    try:
        with av.open(str(fetched(path))) as container:
            if not container.streams.video:
                raise RolloutError(f"{path}: holds no video")
            stream = container.streams.video[0]
            if stream.codec_context is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise RolloutError(f"{path}: the video has an unknown codec")
            ticks = [
                packet.pts
                for packet in container.demux(stream)
                if packet.size and not packet.is_discard
            ]
            shown = [tick for tick in ticks if tick is not None]
            if not shown or len(shown) != len(ticks) or stream.time_base is None:
                raise RolloutError(f"{path}: the video has no usable timestamps")
            in_order = np.sort(np.array(shown, dtype=np.float64))
            name = stream.codec_context.name or "unknown"
            return VideoIndex(
                codec=_DECODER_CODECS.get(name, name),
                width=stream.codec_context.width,
                height=stream.codec_context.height,
                timestamps=(in_order - in_order[0]) * float(stream.time_base),
                num_intact=len(shown),
                file_size=container.size,
            )
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise RolloutError(f"{path}: not a readable video ({error})") from error
