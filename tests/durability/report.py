"""Counts of attempts and findings, added up over workers, as JSON and as a few lines of text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tests.durability.campaigns import CAMPAIGNS, Attempt, Outcome, faults, kills, reads
from tests.durability.runs import Reference

TARGETS = {"stops": 10_000, "kills": 2_000, "power": 10_000, "faults": 3_000, "reads": 3_000}
EXAMPLES = 3


class Report:
    def __init__(self) -> None:
        self._made: Counter[str] = Counter()  # "scenario|campaign"
        self._missed: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()
        self._found: dict[str, list[str]] = {}  # "scenario|campaign|fault|text" → examples
        self._counts: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()  # campaign → of all workers together
        self._possible: dict[str, int] = {}
        self._broken: dict[str, str] = {}

    def known(self, scenario: str, reference: Reference) -> None:
        self._possible[f"{scenario}|stops"] = sum(1 for _ in kills(reference))
        self._possible[f"{scenario}|kills"] = self._possible[f"{scenario}|stops"]
        self._possible[f"{scenario}|faults"] = sum(1 for _ in faults(reference))
        self._possible[f"{scenario}|reads"] = sum(1 for _ in reads(reference))

    def broken(self, scenario: str, why: str) -> None:
        self._broken[scenario] = why

    def take(self, scenario: str, attempt: Attempt, outcome: Outcome, *, seconds: float) -> None:
        where = f"{scenario}|{attempt.campaign}"
        self._seconds[attempt.campaign] += seconds
        if not outcome.counted:
            self._missed[where] += 1
            return
        self._made[where] += 1
        self._ends[f"{attempt.campaign}|{outcome.end}"] += 1
        for one in outcome.findings:
            key = f"{where}|{one.fault}|{re.sub(r'[0-9]+', '#', one.text)[:300]}"
            self._counts[key] += 1
            examples = self._found.setdefault(key, [])
            if len(examples) < EXAMPLES:
                examples.append(f"{attempt.said}: {one.text[:1500]}")

    def faults(self) -> int:
        return sum(self._counts.values()) + len(self._broken)

    def json(self) -> str:
        return json.dumps(
            {
                "attempts": self._made,
                "not reached": self._missed,
                "ends": self._ends,
                "possible": self._possible,
                "seconds": self._seconds,
                "counts": self._counts,
                "found": self._found,
                "broken": self._broken,
            },
            indent=1,
            ensure_ascii=False,
        )

    @classmethod
    def together(cls, parts: Iterable[Mapping[str, Any]]) -> Report:
        whole = cls()
        for part in parts:
            whole._made.update(part["attempts"])
            whole._missed.update(part["not reached"])
            whole._ends.update(part["ends"])
            whole._counts.update(part["counts"])
            whole._seconds.update(part["seconds"])
            whole._possible |= part["possible"]
            whole._broken |= part["broken"]
            for key, examples in part["found"].items():
                whole._found.setdefault(key, []).extend(examples)
        return whole

    def text(self, *, seconds: float, seed: int) -> str:
        lines = [f"Durability: {sum(self._made.values()):,} attempts in {seconds:,.0f} s (seed {seed})."]
        for campaign in CAMPAIGNS:
            made = sum(n for key, n in self._made.items() if key.endswith(f"|{campaign}"))
            possible = sum(n for key, n in self._possible.items() if key.endswith(f"|{campaign}"))
            found: Counter[str] = Counter()
            for key, n in self._counts.items():
                _, of, fault, _ = key.split("|", 3)
                found[fault] += n if of == campaign else 0
            said = ", ".join(f"{n:,} {fault}" for fault, n in found.most_common() if n) or "nothing found"
            of_all = f" of {possible:,}" if possible else ""
            each = f"{1000 * self._seconds[campaign] / made:.0f} ms each" if made else "none"
            lines.append(f"{campaign}: {made:,}{of_all} (target {TARGETS[campaign]:,}), {each}; {said}.")
        lines.append("")
        for name in dict.fromkeys(key.split("|")[0] for key in self._made):
            counts = ", ".join(f"{campaign} {self._made[f'{name}|{campaign}']:,}" for campaign in CAMPAIGNS)
            lines.append(f"  {name}: {counts}")
        lines += [f"  {name} could not run: {why[-600:]}" for name, why in self._broken.items()]
        if self._found:
            lines += ["", "Found:"]
        for key, n in self._counts.most_common():
            scenario, campaign, fault, _ = key.split("|", 3)
            lines.append(f"  {scenario}, {campaign}, {fault} × {n:,}: {self._found[key][0]}")
        return "\n".join(lines) + "\n"
