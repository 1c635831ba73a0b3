"""One input, judged: nothing but a UserError may come out, in time and within the memory that a file may take."""

from __future__ import annotations

import gc
import re
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from curator.domain.wording import UserError
from tests.fuzz.targets import Target

SECONDS = 5.0  # of processor time for one input; those of a fuzzer are at most some hundred kilobytes
FREE_BYTES = 64 << 20
TIMES = 10
_PEAK = re.compile(r"VmHWM:\s+(\d+)")
_NOW = re.compile(r"VmRSS:\s+(\d+)")


class TooLong(BaseException):  # no reader may catch it
    """The input took more than its time."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`key` is equal for inputs that fail at the same place in the same way."""

    key: str
    text: str


def judge(target: Target, data: bytes, folder: Path, *, seconds: float = SECONDS) -> Finding | None:
    """Read the input in a fresh folder below `folder`, a place in memory if possible."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    path = target.place(data, place)
    before = _start_of_peak()
    found = _read(target.read, path, seconds)
    grown = _peak() - before
    if found is None and grown > FREE_BYTES + TIMES * len(data):
        gc.collect()
        return Finding(f"memory {target.name}", f"{grown >> 20} MB more for a file of {len(data):,} bytes")
    return found


def _read(read: Callable[[Path], None], path: Path, seconds: float) -> Finding | None:
    try:
        with _at_most(seconds):
            read(path)
    except UserError as error:
        if not str(error).strip():
            return Finding("an empty sentence", "".join(traceback.format_exception(error)))
    except TooLong as error:
        return Finding(f"hang {_place(error)}", "".join(traceback.format_exception(error)))
    except (Exception, RecursionError) as error:
        return Finding(f"{type(error).__name__} {_place(error)}", "".join(traceback.format_exception(error)))
    return None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    ours = [one for one in traceback.extract_tb(error.__traceback__) if "/curator/" in one.filename]
    frames = ours or traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def _start_of_peak() -> int:
    """Resident bytes now; the peak is counted from here on (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _of(_NOW)


def _peak() -> int:
    return _of(_PEAK)


def _of(pattern: re.Pattern[str]) -> int:
    found = pattern.search(Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) << 10
