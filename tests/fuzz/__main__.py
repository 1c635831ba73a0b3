"""Fuzz every reader: `python -m tests.fuzz --seconds 60 [--only NAME]`. Not part of the suite; wants `.[fuzz]`.

Each reader gets its time in a process of its own, guided by coverage (atheris). A finding is anything but a UserError,
more than 2 s of processor time, more than 64 MB + 10 times the file in memory, a mention that does not quote its text,
or a text that no database holds. Inputs and tracebacks are left in `--findings`; `--again FILE` reads one again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.judging import judge
from tests.fuzz.serving import Server
from tests.fuzz.targets import targets

COUNTED = "number_of_executed_units"
GRACE = 240.0  # seconds beyond its time after which a process hangs

PARTS = {"large": 0.25, "child": 0.75}
"""With the share of a target's time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    runs: int | None
    found: tuple[str, ...]


def fuzz(name: str, part: str, server: Server, seconds: float, findings: Path) -> Outcome:
    """One target in a process of its own: `part` is `large` or `child`, which the server serves."""
    log = findings / f"{name}.{part}.log"
    code = server.run(name, seconds, findings, log, grace=GRACE)
    ended = f"hangs, the input is {_kept(name, findings)}" if code is None else ""
    if code:
        ended = f"ended with {code}, see {log}: {log.read_text(errors='replace')[-2000:]}"
    place = findings / f"{name}.place"
    if ended and place.exists():
        _kept(name, findings)
    if place.exists():
        if (corpus := Path(place.read_text()) / "corpus").is_dir():
            shutil.copytree(corpus, findings / f"{name}.corpus", dirs_exist_ok=True)
        shutil.rmtree(place.read_text(), ignore_errors=True)
        place.unlink()
    text = log.read_text(errors="replace")
    runs = next((int(line.rpartition(" ")[2]) for line in text.splitlines() if COUNTED in line), None)
    found = [line.removeprefix("FOUND ") for line in text.splitlines() if line.startswith("FOUND ")]
    return Outcome(name, runs, tuple(found + [ended] * bool(ended)))


def _kept(name: str, findings: Path) -> Path:
    current = Path((findings / f"{name}.place").read_text()) / "current"
    kept = findings / f"{name}-last"
    if current.exists():
        shutil.copy(current, kept)
    return kept


def again(path: Path, name: str) -> int:
    """Read a finding once more."""
    with tempfile.TemporaryDirectory() as folder:
        found = judge(targets()[name], path.read_bytes(), Path(folder))
    print(found.text if found else f"{path} is read, or refused with a sentence.")
    return found is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--only", action="append", metavar="NAME", choices=sorted(targets()), help="may be repeated")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--again", type=Path, metavar="FILE", help="with one --only: read this input, fuzz nothing")
    chosen = parser.parse_args()
    if chosen.again:
        return again(chosen.again, (chosen.only or ["recognise"])[0])
    chosen.findings.mkdir(parents=True, exist_ok=True)
    failed = total = 0
    servers = {part: Server(part) for part in PARTS}
    for name in chosen.only or targets():
        for part, share in PARTS.items():
            outcome = fuzz(name, part, servers[part], share * chosen.seconds, chosen.findings.absolute())
            failed += bool(outcome.found)
            total += outcome.runs or 0
            runs = "?" if outcome.runs is None else f"{outcome.runs:,}"
            print(f"{name:20} {part} {runs:>10} inputs  {'; '.join(outcome.found) or 'nothing found'}", flush=True)
    for server in servers.values():
        server.close()
    print(f"{total:,} inputs")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
