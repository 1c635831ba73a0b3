"""The process that reads inputs of a target made large: all of one, a line of it, a character over and over.

Here a reader shows that it needs a multiple of the file in memory, or the square of its length in time. Nothing is
instrumented, so that the time is the reader's own.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.judging import SECONDS
from tests.fuzz.seeds import seeds
from tests.fuzz.serving import serve
from tests.fuzz.session import MEMORY, Session
from tests.fuzz.targets import targets

SIZE = 1 << 20
PIECES = (b" ", b"x", b"7", b"[", b"(", b"<a>", b'{"a":', b"&#10;", b"\\x", b"|", b"\t", b"\n", b"\xf0\x9f\x98\x80")


def large(data: bytes) -> Iterator[bytes]:
    yield data * (SIZE // max(1, len(data)))
    lines = data.split(b"\n")
    for line in sorted(set(lines), key=len)[-3:]:
        at = lines.index(line)
        yield b"\n".join(lines[:at] + [line] * (SIZE // (len(line) + 1)) + lines[at + 1 :])
    for piece in PIECES:
        for place in (len(data) // 3, 2 * len(data) // 3):
            yield data[:place] + piece * (SIZE // len(piece)) + data[place:]


def main(name: str, seconds: float, findings: Path) -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    count = 0
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        session = Session(targets()[name], Path(place), findings)
        (findings / f"{name}.place").write_text(place)
        started = time.monotonic()
        for data in (one for seed in sorted(seeds(name), key=len)[:3] for one in large(seed)):
            if count and time.monotonic() - started > seconds:
                break
            session.run(data, seconds=SECONDS * max(1.0, len(data) / SIZE))
            count += 1
    print(f"number_of_executed_units: {count}", flush=True)
    os._exit(0)  # a library that aborts while its threads are taken down says nothing of the input


if __name__ == "__main__":
    serve(main)
