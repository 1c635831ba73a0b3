"""One input, judged: nothing but a refusal may come out, in time and within the memory that a file may take."""

from __future__ import annotations

import gc
import resource
import shutil
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.limits import TooLong, at_most
from tests.fuzz.targets import Target

SECONDS = 2.0  # of processor time for one input of at most a megabyte
FREE_BYTES = 64 << 20
TIMES = 10
ROUGHLY = 8 << 20  # how much of an input's memory may hide behind the peak of those before


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
    before = _peak()
    found = _read(target, path, seconds)
    if (grown := _peak() - before) > ROUGHLY:
        _forget_peak()
    if found is None and grown > FREE_BYTES + TIMES * len(data):
        gc.collect()
        return Finding(f"memory {target.name}", f"{grown >> 20} MB more for a file of {len(data):,} bytes")
    return found


def _read(target: Target, path: Path, seconds: float) -> Finding | None:
    try:
        with at_most(seconds):
            target.read(path)
    except target.refusals as error:
        if not str(error).strip():
            return Finding("an empty sentence", "".join(traceback.format_exception(error)))
    except TooLong as error:
        return Finding(f"hang {_place(error)}", "".join(traceback.format_exception(error)))
    except (Exception, RecursionError) as error:
        return Finding(f"{type(error).__name__} {_place(error)}", "".join(traceback.format_exception(error)))
    return None


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    ours = [one for one in traceback.extract_tb(error.__traceback__) if "/curator/" in one.filename]
    frames = ours or traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def _peak() -> int:
    """The most resident bytes since `_forget_peak` (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_peak() -> None:
    """Count from what is resident now. Not done for each input: it takes as long as reading a small one."""
    Path("/proc/self/clear_refs").write_text("5")
