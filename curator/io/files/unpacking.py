"""Gzip files, unpacked while they are read, as long as they do not swell to far more than they are."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from curator.domain.errors import UserError
from curator.domain.wording import tr

MOST_SWELLING = 100  # times the archive's own size; text seldom packs better than 20 : 1
FREE_BYTES = 1 << 23  # a small archive may always hold this much


class Unpacked(io.RawIOBase):
    """The content of a gzip file, as long as it is not far more than the file."""

    def __init__(self, packed: BinaryIO, most: int, path: Path) -> None:
        super().__init__()
        self._file = gzip.GzipFile(fileobj=packed)
        self._left = most
        self._path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise UserError(tr("{path} swells to far more than it is: it was not read on", path=self._path))
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def unpacked_gzip(packed: BinaryIO, size: int, path: Path) -> Iterator[BinaryIO]:
    """The content of a gzip file of `size` bytes. Reading raises UserError where it swells as no text does."""
    with io.BufferedReader(Unpacked(packed, FREE_BYTES + MOST_SWELLING * size, path), 1 << 16) as stream:
        yield cast(BinaryIO, stream)
