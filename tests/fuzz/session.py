"""One run over inputs of one target, in one process.

Findings are written to a folder: the input, and its result next to it. The current input is always in `current`, so
that the parent finds it if the process hangs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz import judging
from tests.fuzz.targets import Target

MEMORY = Path("/dev/shm")


@dataclass
class Session:
    target: Target
    folder: Path
    findings: Path
    seen: set[str] = field(default_factory=set)

    def run(self, data: bytes, *, seconds: float = judging.SECONDS) -> None:
        (self.folder / "current").write_bytes(data)
        found = judging.judge(self.target, data, self.folder, seconds=seconds)
        if found is None or found.key in self.seen:
            return
        self.seen.add(found.key)
        name = f"{self.target.name}-{found.key.partition(' ')[0]}-{len(self.seen)}"
        (self.findings / name).write_bytes(data)
        (self.findings / f"{name}.txt").write_text(f"{found.key}\n{found.text}", encoding="utf-8", errors="replace")
        print(f"FOUND {name}: {found.key}", flush=True)
