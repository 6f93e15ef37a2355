"""Tables of ours as parquet files that carry a checksum."""

from pathlib import Path
from typing import TYPE_CHECKING

from goalward.checksums import CHECKSUM_KEY, CHECKSUM_PLACE, check, written_with_checksum

if TYPE_CHECKING:
    # Imported where it is used: the command line starts without it.
    import pyarrow as pa


def write_parquet(path: Path, table: "pa.Table") -> None:
    """A table as a file, whole or not at all."""
    import pyarrow.parquet as pq

    told = {**(table.schema.metadata or {}), CHECKSUM_KEY.encode(): CHECKSUM_PLACE.encode()}
    with written_with_checksum(path) as temporary:
        told_table = table.replace_schema_metadata(told)
        # Absolute, as pyarrow takes a folder that is called ~ for that of the user.
        pq.write_table(told_table, temporary.absolute(), compression="zstd")


def read_parquet(path: Path) -> "pa.Table":
    """What `write_parquet` wrote; damage is noticed before the file is parsed."""
    import pyarrow.parquet as pq

    check(path)
    return pq.read_table(path.absolute())
