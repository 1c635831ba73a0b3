"""Whether every recorded decision was of a mention that was on the screen 0.15 s before its key, as painted."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SEEN = 0.15
SINGLE = {"decide", "delete_mention", "change_mention", "make_entity", "flag"}
TRAVELS = {"undo", "redo"}
"""They take back and repeat what was decided, and lead to where it was."""


@dataclass
class Painted:
    """The states of one widget in the order of their painting."""

    at: list[float] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)

    def during(self, start: float, end: float) -> list[Any]:
        """What was on the screen at any time from `start` to `end`; nothing where it was painted only later."""
        first = bisect_right(self.at, start) - 1
        if first < 0:
            return [None, *self.states[0 : bisect_right(self.at, end)]]
        return self.states[first : bisect_right(self.at, end)]


@dataclass
class Verdict:
    decisions: int
    steps: int
    documents: int
    inputs: int
    violations: list[str]
    kinds: Counter[str]

    @property
    def text(self) -> str:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(self.kinds.items()))
        head = (
            f"{self.inputs:,} keys and clicks; {self.decisions:,} decisions of one mention, {self.steps:,} steps of "
            f"several, {self.documents:,} document states ({kinds}); {len(self.violations)} violations"
        )
        return "\n".join([head, *self.violations[:20]])


def judge(log: Path, project: Path) -> Verdict:
    """Read the painter's log and the operations of `project`, and of every other that was opened by a key. Violations
    name the operation and what was painted."""
    painted: dict[str, Painted] = defaultdict(Painted)
    kinds = {"": operation_kinds(project)}
    found = Verdict(0, 0, 0, 0, [], Counter())
    pressed = 0.0
    for line in log.read_text(encoding="utf-8").splitlines():
        what, at, *more = json.loads(line)
        if what == "start":
            painted.clear()
        elif what == "input":
            found.inputs += 1
            pressed = more[0]
        elif what == "change":
            kind, operation, mentions, documents, folder = more
            if folder not in kinds:
                kinds[folder] = operation_kinds(Path(folder))
            name = kinds[folder].get(operation, kind)
            if name not in TRAVELS:
                _check(found, painted, name, operation, mentions, documents, pressed)
        else:
            series = painted[what]
            series.at.append(at)
            series.states.append(more[0])
    return found


def _check(
    found: Verdict,
    painted: dict[str, Painted],
    kind: str,
    operation: int,
    mentions: list[int],
    documents: list[int],
    pressed: float,
) -> None:
    found.kinds[kind] += 1
    texts = [one for name, one in painted.items() if name.startswith("text")]
    during = [one.during(pressed - SEEN, pressed) for one in texts]
    if kind in ("set_state", "document_state"):
        found.documents += 1
        if not any(all(state and state[0] == documents[0] for state in states) for states in during):
            found.violations.append(f"operation {operation}: document {documents} was not on the screen: {during}")
    elif kind in SINGLE and len(mentions) == 1:
        found.decisions += 1
        seen = any(all(state and state[1] == mentions[0] for state in states) for states in during)
        if not seen and not _listed(painted, mentions, pressed) and not _asked(painted, pressed):
            found.violations.append(f"operation {operation} ({kind}): mention {mentions} was not framed: {during}")
    elif kind in ("decide", "make_entity") and mentions:
        found.steps += 1
        if not _listed(painted, mentions, pressed) and not _asked(painted, pressed):
            found.violations.append(
                f"operation {operation}: {len(mentions)} mentions were neither listed nor asked about"
            )


def _listed(painted: dict[str, Painted], mentions: list[int], pressed: float) -> bool:
    """Whether a list that held all of them was on the screen."""
    lists = [one.during(pressed - SEEN, pressed) for name, one in painted.items() if name.startswith("lines")]
    return any(all(state and set(mentions) <= set(state) for state in states) for states in lists)


def _asked(painted: dict[str, Painted], pressed: float) -> bool:
    strips = [one.during(pressed - SEEN, pressed) for name, one in painted.items() if name.startswith("strip")]
    return any(all(state and "undecided" in state for state in states) for states in strips)


def operation_kinds(project: Path) -> dict[int, str]:
    """Kinds of the operations by their ids; none where the project is gone, so that nothing of it is judged."""
    if not (project / "project.sqlite").is_file():
        return {}
    with sqlite3.connect(f"file:{project / 'project.sqlite'}?mode=ro", uri=True) as base:
        return dict(base.execute("select id, kind from operations").fetchall())
