"""Results on disk: Parquet parts, each written whole or not at all, merged as they become many.

A Parquet file cannot be appended to, so a batch of results becomes a new part. Being killed while writing
it leaves at most a draft, which is removed later. A part is
called ``part-LEVEL-FIRST-LAST.parquet`` after the batches it holds; 64 parts of a level are merged into one
of the next. If the merged part is there, those it covers are not read, so that being killed between writing
it and removing them counts nothing twice. Merging streams: memory does not grow with the number of results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duelmatch.errors import FileError, MissingExtraError
from duelmatch.files.documents import naming
from duelmatch.files.writing import replacing

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtraError("Experiments need more: pip install 'duelmatch[experiments]'") from None

MERGED = 64
"""This many parts of a level are merged into one of the next."""

ROWS = 50_000
"""Rows written at once when parts are merged."""

_WORD = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("cell", _WORD),
        ("problem", _WORD),
        ("algorithm", _WORD),
        ("delta", pa.float64()),
        ("repetition", pa.int32()),
        ("seed", pa.int64()),
        ("status", _WORD),
        ("right", pa.bool_()),
        ("allowed", pa.float64()),
        ("duels", pa.int64()),
        ("seconds", pa.float64()),
        ("matching", pa.list_(pa.string())),
        ("failure", pa.string()),
        ("session", pa.int32()),
    ]
)

_NAME = re.compile(r"part-(\d+)-(\d+)-(\d+)\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A file of results: the batches ``first`` to ``last``, merged ``level`` times."""

    first: int
    last: int
    level: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"part-{self.level}-{self.first:08d}-{self.last:08d}.parquet"

    def covers(self, other: Part) -> bool:
        """Whether all of another part is in this one."""
        return self.level > other.level and self.first <= other.first and other.last <= self.last


class Parts:
    """The parts in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        found = [_part(path.name) for path in folder.iterdir()] if folder.is_dir() else []
        parts = sorted(part for part in found if part is not None)
        self.parts = [part for part in parts if not any(other.covers(part) for other in parts)]

    def tidy(self) -> None:
        """Remove what being killed has left: drafts, and parts that are merged already."""
        current = {part.name for part in self.parts}
        for path in self.folder.iterdir():
            if path.suffix == ".tmp" or (_part(path.name) and path.name not in current):
                path.unlink()

    def append(self, columns: Mapping[str, Iterable[Any]]) -> None:
        """Save some results; when this returns they are on the disk."""
        number = max((part.last for part in self.parts), default=-1) + 1
        self._write(Part(number, number, 0), [pa.table(columns, schema=SCHEMA)])
        level = 0
        while len(same := [part for part in self.parts if part.level == level]) >= MERGED:
            level += 1
            self._write(Part(same[0].first, same[-1].last, level), self._gathered(same))
            for part in same:
                (self.folder / part.name).unlink()

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all results, piece by piece."""
        for part in self.parts:
            yield from self._pieces(part, columns)

    def _gathered(self, parts: list[Part]) -> Iterator[pa.Table]:
        """Yield the rows of some parts in tables of a good size, since many small ones take memory."""
        pieces: list[pa.Table] = []
        for part in parts:
            for piece in self._pieces(part):
                pieces.append(pa.Table.from_batches([piece]).cast(SCHEMA))
                if sum(table.num_rows for table in pieces) >= ROWS:
                    yield pa.concat_tables(pieces)
                    pieces = []
        if pieces:
            yield pa.concat_tables(pieces)

    def _pieces(self, part: Part, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        path = self.folder / part.name
        try:
            with pq.ParquetFile(path, read_dictionary=["cell", "problem", "algorithm", "status"]) as file:
                yield from file.iter_batches(columns=columns)
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0]
            raise FileError(
                f"{path}: The results cannot be read: {reason.rstrip('.')}. Delete it: its runs are then "
                "done again."
            ) from None

    def _write(self, part: Part, tables: Iterable[pa.Table]) -> None:
        with (
            naming(self.folder / part.name) as path,
            replacing(path) as file,
            pq.ParquetWriter(file, SCHEMA) as writer,
        ):
            for table in tables:
                writer.write_table(table.cast(SCHEMA))
        self.parts = sorted([other for other in self.parts if not part.covers(other)] + [part])


def words_of(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different words of a column of a batch, and by row the number of its word."""
    return column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False)


def _part(name: str) -> Part | None:
    match = _NAME.fullmatch(name)
    return Part(int(match[2]), int(match[3]), int(match[1])) if match else None
