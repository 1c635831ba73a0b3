"""The attempts on a scenario: every stop, torn writes, images of the disk after the power failed, calls and reads that
fail."""

from __future__ import annotations

import errno
import hashlib
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.durability.disk import SECTOR, Disk, Tree, images
from tests.durability.runs import COMMIT, Finding, Reference, Stage, judge
from tests.durability.scenarios import Scenario
from tests.durability.shim import CHANGES, GROWING, Act, Call, Kind
from tests.durability.world import Run

CAMPAIGNS = ("stops", "kills", "power", "faults", "reads")
PAGE = 4096
PASSES = 16
"""Over the stops of a scenario: a campaign that ends early has attacked all parts of it."""
SOME, TURNS = 0.15, 200
"""How many of the calls a turn of power failures takes, and after how many turns they end."""
ERRORS = {
    Kind.WRITE: (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EINTR),
    Kind.SYNC: (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR),
    Kind.REOPEN: (errno.EROFS, errno.EIO),
    Kind.UNLINK: (errno.EIO, errno.EROFS),
    Kind.RMDIR: (errno.EIO, errno.EROFS),
}
OTHERS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT)
SPREAD = {
    errno.ENOSPC: GROWING & 0xFFFF,
    errno.EDQUOT: GROWING & 0xFFFF,
    errno.EROFS: CHANGES & ~Kind.SYNC | Kind.REOPEN,
    errno.EIO: CHANGES,
}
"""The calls that fail from then on: a full disk still syncs and removes, a broken one does nothing."""
SLOWLY = 1, 5, 30
"""Seconds of a slow call, by the clocks of its process: see `shim.c`."""

RARER = 4
"""Of so many reads, one is interrupted and one reads less."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is done to one run; `arming` as for `Shim.arm`, or an image of the disk."""

    campaign: str
    said: str
    arming: dict[str, Any] = field(default_factory=dict)
    image: Tree | None = None
    promised: int = 0
    reached: int = 0


def attempts(campaign: str, reference: Reference, *, seed: int, shard: tuple[int, int]) -> Iterator[Attempt]:
    """`shard` is (this worker, of how many). Stops come in passes over the whole scenario, the others at random; images
    hardly end, the others are each made once."""
    if campaign == "power":
        yield from _power(reference, random.Random(f"{seed} {shard[0]}"))
        return
    if campaign == "stops":
        passes = list(range(PASSES))
        random.Random(seed).shuffle(passes)
        for one in passes:
            yield from stops(reference, first=shard[0] + shard[1] * one, every=shard[1] * PASSES)
        return
    found = list({"kills": kills, "faults": faults, "reads": reads}[campaign](reference))
    random.Random(seed).shuffle(found)  # the same order in all workers
    yield from found[shard[0] :: shard[1]]


def stops(reference: Reference, *, first: int = 0, every: int = 1) -> Iterator[Attempt]:
    """Before each call that changes something, and within each write: the folder as a killed process leaves it, made
    from the record, in which calls of several threads stand in the order in which they took place. Only every so many
    of them are made, from the `first` one."""
    disk = Disk(reference.root, reference.before)
    numbers = itertools.count()
    answered = 0

    def chosen() -> bool:
        return (next(numbers) - first) % every == 0

    for call in reference.calls:
        said = f"before call {call.number}, {_name(call)}"
        if call.kind & CHANGES and chosen():
            yield Attempt("stops", said, image=disk.now(), promised=answered, reached=answered + 1)
        for cut in filter(lambda _: chosen(), _cuts(call)):
            part = replace(call, data=call.data[:cut])
            said = f"in call {call.number}, {_name(call)}, after {cut} of {len(call.data)} bytes"
            yield Attempt("stops", said, image=disk.now(part), promised=answered, reached=answered + 1)
        if call.kind is not Kind.MARK:
            disk.take(call)
        elif call.path != COMMIT:
            answered = max(answered, int(call.path.partition(" ")[2]))


def kills(reference: Reference) -> Iterator[Attempt]:
    """The same with a process that is really killed, where threads may be in another order."""
    for call in reference.calls:
        if call.kind & CHANGES:
            said = f"before call {call.number}, {_name(call)}"
            yield Attempt("kills", said, {"at": call.number, "act": Act.KILL})
        for cut in _cuts(call):
            said = f"in call {call.number}, {_name(call)}, after {cut} of {len(call.data)} bytes"
            yield Attempt("kills", said, {"at": call.number, "act": Act.TORN, "argument": cut})


def _cuts(call: Call) -> list[int]:
    """After how many bytes a write is cut: the first, the last, sectors and pages, the middle."""
    if call.kind is not Kind.WRITE:
        return []
    length = len(call.data)
    cuts = {1, SECTOR - call.offset % SECTOR, length // 2, length - length % PAGE, length - 1}
    return sorted(one for one in cuts if 0 < one < length)


def faults(reference: Reference) -> Iterator[Attempt]:
    """Each call fails in each way that it can, once and from then on; writes are short; calls are slow."""
    for call in reference.calls:
        if call.kind is Kind.MARK:
            continue
        for number in ERRORS.get(call.kind, OTHERS):
            said = f"call {call.number}, {_name(call)}: {errno.errorcode[number]}"
            arming = {"at": call.number, "act": Act.FAIL, "argument": number}
            yield Attempt("faults", said, arming)
            if number in SPREAD and call.kind is not Kind.SYNC:
                yield Attempt("faults", f"{said} from then on", {**arming, "forever": True, "kinds": SPREAD[number]})
            if call.kind is Kind.SYNC and number == errno.EIO:
                yield Attempt("faults", f"{said} from then on", {**arming, "forever": True, "kinds": int(Kind.SYNC)})
        if call.kind is Kind.WRITE and len(call.data) > 1:
            arming = {"at": call.number, "act": Act.SHORT, "argument": len(call.data) // 2}
            yield Attempt("faults", f"call {call.number}, {_name(call)}: short", arming)
        for seconds in SLOWLY if call.kind is Kind.SYNC else SLOWLY[-1:]:
            arming = {"at": call.number, "act": Act.SLOW, "argument": seconds * 1000}
            yield Attempt("faults", f"call {call.number}, {_name(call)}: {seconds} s", arming)
        if call.kind is Kind.SYNC:
            arming = {"at": call.number, "act": Act.SLOW_ALL, "argument": SLOWLY[0] * 1000, "kinds": int(Kind.SYNC)}
            yield Attempt("faults", f"call {call.number}, {_name(call)}: {SLOWLY[0]} s from then on", arming)


def reads(reference: Reference) -> Iterator[Attempt]:
    """Each read, and each opening of a file for reading, fails once and from then on. Some are interrupted or read
    less: Python and SQLite then read again."""
    for call in reference.reads:
        said = f"{'open' if call.offset < 0 else 'read'} {call.number}, {call.path.removeprefix(reference.base)}"
        arming = {"at": call.number, "act": Act.FAIL, "argument": errno.EIO, "kinds": Kind.READ}
        yield Attempt("reads", f"{said}: EIO", arming)
        yield Attempt("reads", f"{said}: EIO from then on", {**arming, "forever": True})
        if call.number % RARER:
            continue
        yield Attempt("reads", f"{said}: EINTR", {**arming, "argument": errno.EINTR})
        if call.offset > 1:
            yield Attempt("reads", f"{said}: short", {**arming, "act": Act.SHORT, "argument": call.offset // 2})


def _power(reference: Reference, chance: random.Random) -> Iterator[Attempt]:
    """First at the promises alone, then, again and again, at some of the calls and with more images of each."""
    seen: set[bytes] = set()
    for turn in range(TURNS):
        often, many = (SOME, 2 + turn // 4) if turn else (0.0, 10)
        disk = Disk(reference.root, reference.before)
        saved = answered = 0
        for call in reference.calls:
            if call.path == COMMIT:
                continue
            if call.kind is Kind.MARK:
                word, _, step = call.path.partition(" ")
                saved = max(saved, int(step)) if word == "saved" else saved
                answered = max(answered, int(step))
            else:
                disk.take(call)
            if call.kind is not Kind.MARK and chance.random() >= often:
                continue
            for which, image in enumerate(images(disk, chance, many=many)):
                if (sign := _sign(image, saved, answered)) not in seen:
                    seen.add(sign)
                    said = f"after call {call.number}, {_name(call)}, image {which}"
                    yield Attempt("power", said, image=image, promised=saved, reached=answered + 1)


def _sign(image: Tree, saved: int, answered: int) -> bytes:
    found = hashlib.blake2b(f"{saved} {answered}".encode(), digest_size=12)
    for name, content in sorted(image.items()):
        found.update(f"\0{name}\0{'folder' if content is None else len(content)}\0".encode(errors="surrogatepass"))
        found.update(content or b"")
    return found.digest()


def _name(call: Call) -> str:
    return f"{(call.kind.name or '').lower()} {call.path.rpartition('/root/')[2]}"


@dataclass(slots=True)
class Outcome:
    """`counted` is False for a call that was not reached; `end` is how the disturbed run ended."""

    counted: bool
    end: str
    findings: list[Finding]


def attempt(stage: Stage, scenario: Scenario, reference: Reference, one: Attempt) -> Outcome:
    if one.image is not None:
        sign = _sign(one.image, one.promised, one.reached)
        if (found := stage.judged.get((scenario.name, sign))) is not None:  # a sync changes nothing of it
            return Outcome(True, one.campaign, found)
        stage.reset(one.image)
        run = Run(one.campaign)
        found = judge(stage, scenario, reference, run, promised=one.promised, reached=one.reached)
        stage.judged[scenario.name, sign] = found
        return Outcome(True, one.campaign, found)
    stage.reset(reference.before)
    run = stage.act(scenario, **one.arming)
    if one.campaign == "kills":
        if run.end != "killed":
            return Outcome(False, run.end, [])
        found = judge(stage, scenario, reference, run, promised=run.answered, reached=run.answered + 1)
        return Outcome(True, run.end, found)
    slow = one.arming["act"] in (Act.SLOW, Act.SLOW_ALL)
    if not slow and run.facts and run.facts[-1] == "hits 0":
        return Outcome(False, run.end, [])
    found = _said(run, scenario, slow=slow)
    if one.campaign == "reads":
        found += _blamed(run)
        if scenario.leaves_out and run.end == "done":
            start = stage.next_start(scenario)
            return Outcome(True, run.end, found + ([] if start.end == "done" else [Finding("unopened", start.said)]))
    found += judge(stage, scenario, reference, run, promised=run.answered, reached=run.answered + 1)
    return Outcome(True, run.end, found)


def _blamed(run: Run) -> list[Finding]:
    """The disk failed: no file was damaged."""
    return [Finding("wrong", f"said {run.said!r}")] if run.end == "refused" and "damaged" in run.said else []


def _said(run: Run, scenario: Scenario, *, slow: bool) -> list[Finding]:
    """A failing call is survived, or said in one sentence."""
    if run.end == "failed":
        lines = run.said.strip().splitlines() or [""]
        places = [line.strip() for line in lines if line.strip().startswith("File ") and "/curator/" in line]
        return [Finding("traceback", f"{lines[-1]} {places[-1] if places else ''}")]
    if run.end in ("hangs", "killed"):
        return [Finding("hangs", run.end)]
    if run.end == "refused" and (slow or "\n" in run.said.strip() or not run.said.strip()):
        return [Finding("wrong", f"said {run.said!r}")]
    if run.end == "done" and run.answered < scenario.steps:
        return [Finding("silent", f"{run.answered} of {scenario.steps} steps")]
    return []
