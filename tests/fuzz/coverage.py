"""Which lines of the readers the corpus reaches: `python -m tests.fuzz.coverage [--findings FOLDER] [--only NAME]`.

With `--findings`, also what runs of the fuzzer added there (`NAME.corpus`). Counted are the lines of the functions of
`curator/io`, as Python's own line events name them; those that run at import are left out.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.fuzz.seeds import seeds
from tests.fuzz.session import MEMORY
from tests.fuzz.targets import Target, targets

ROOT = Path(__file__).resolve().parents[2]
COUNTED = ROOT / "curator" / "io"


class Reached:
    """Lines by file, noted while a function of the counted modules runs."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = {}
        self._ours: dict[CodeType, bool] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code not in self._ours:
            self._ours[code] = code.co_filename.startswith(str(COUNTED))
        if not self._ours[code]:
            return None
        self.lines.setdefault(code.co_filename, set())
        return self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines[frame.f_code.co_filename].add(frame.f_lineno)
        return self._line


def lines_of(path: Path) -> set[int]:
    """The lines of all functions in a module."""
    module = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    return {
        line for code in _functions(module) for _, _, line in code.co_lines() if line and line != code.co_firstlineno
    }


def _functions(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & 0x02:  # locals of its own: a function, and not the body of a class
                yield one
            yield from _functions(one)


def read(target: Target, inputs: list[bytes], reached: Reached, folder: Path) -> None:
    for number, data in enumerate(inputs):
        place = folder / str(number)
        place.mkdir()
        path = target.place(data, place)
        sys.settrace(reached)
        try:
            target.read(path)
        except Exception:  # what it is, the fuzzer judges
            continue
        finally:
            sys.settrace(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=Path, help="folder of earlier runs")
    parser.add_argument("--only", action="append", metavar="NAME", choices=sorted(targets()))
    parser.add_argument("--most", type=int, default=300, help="inputs of earlier runs for each target, spread evenly")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable()
    reached = Reached()
    for name in chosen.only or targets():
        inputs = seeds(name)
        if chosen.findings is not None:
            more = sorted((chosen.findings / f"{name}.corpus").glob("*"))
            inputs += [one.read_bytes() for one in more[:: max(1, len(more) // chosen.most)]]
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
            read(targets()[name], inputs, reached, Path(folder))
    there = {str(path): lines_of(path) for path in sorted(COUNTED.rglob("*.py"))}
    for path, lines in there.items():
        if lines:
            found = len(lines & reached.lines.get(path, set()))
            print(f"{Path(path).relative_to(ROOT)!s:50} {found:5} of {len(lines):5}  {found / len(lines):4.0%}")
    every = sum(map(len, there.values()))
    found = sum(len(lines & reached.lines.get(path, set())) for path, lines in there.items())
    print(f"{found:,} of {every:,} lines ({found / every:.1%})")


if __name__ == "__main__":
    main()
