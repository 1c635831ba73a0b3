"""The list of suspicious gold: what a job found, without what was kept or decided again."""

from __future__ import annotations

from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, ignore

ARREST, LIDOCAINE = Verdict.link("MESH:D006323"), Verdict.link("MESH:D008012")


def row(mention: int, gold: list[str]) -> dict[str, Any]:
    return {
        "document": "1",
        "mention": str(mention),
        "surface": "x",
        "gold": gold,
        "probability": 0.1,
        "rival": "MESH:D001145",
        "rival_name": "Arrhythmia",
        "rival_probability": 0.8,
    }


def test_kept_and_changed_decisions_leave_the_list_and_a_change_of_mind_comes_back(filled: World) -> None:
    service, curation = filled.project.suspicious, filled.project.curation
    with pytest.raises(UserError, match="no index yet"):
        service.start(on_progress=ignore, on_end=ignore)
    filled.index()
    one, two, three, four = filled.mentions(1)
    for mention in (one, two, three):
        curation.decide(mention, ARREST)
    curation.decide(four, Verdict.nil())
    rows = [*(row(mention, ["MESH:D006323"]) for mention in (one, two, three)), row(four, [])]
    ends: list[JobOutcome] = []

    def look() -> list[int]:
        result = {"rows": rows, "checked": 9, "found": 4}
        filled.jobs.outcomes = [JobOutcome(JobState.DONE, "4 of 9", result)]
        service.start(on_progress=ignore, on_end=ends.append)
        return [int(one["mention_id"]) for one in ends[-1].result["rows"]]

    assert look() == [one, two, three, four]
    kind, spec = filled.jobs.started[-1]
    assert (kind, len(filled.jobs.seen)) == ("suspicious", 1)
    assert "staging" not in spec
    service.keep(one)
    curation.decide(two, LIDOCAINE)
    found = service.found()
    assert ([one.mention_id for one in found.rows], found.checked, found.message) == ([three, four], 9, "4 of 9")
    service.keep(four)
    assert look() == [three]
    curation.decide(one, LIDOCAINE)
    curation.decide(one, ARREST)
    service.keep(three)
    curation.clear(three)
    with pytest.raises(UserError, match="undecided now"):
        service.keep(three)
    assert service.found().rows == ()
