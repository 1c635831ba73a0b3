"""Attributes in the files of rounds: they travel with the judgements, and nothing of them is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.domain.attributes import Scheme
from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, make_world


@pytest.fixture
def away(tmp_path: Path) -> Iterator[World]:
    """The colleague's project: the same documents, and no attributes."""
    (tmp_path / "away").mkdir()
    made = make_world(tmp_path / "away", kb=True, documents=2)
    yield made
    made.project.close()


@pytest.fixture
def home(filled: World) -> World:
    project = filled.project
    scheme = Scheme().with_attribute("negation", ("affirmed", "negated")).with_attribute("time", ("past", "now"))
    project.attributes.save(scheme)
    project.rounds.create("pilot", [1, 2])
    return filled


def send(world: World, path: Path, *curators: str) -> Path:
    world.project.round_files.export("pilot", path, curators=curators)
    return path


def give(world: World, curator: str, mention: int, name: str, value: str | None) -> None:
    seat = world.project.rounds.seat(world.project.rounds.named("pilot"), curator).for_window
    assert seat.attributes is not None
    one = seat.attributes.scheme().named(name)
    chosen = one.named(value) if value else None
    seat.attributes.set([mention], one.id, chosen.id if chosen else None)


def given(world: World, curator: str, document: int = 1) -> list[dict[str, str]]:
    seat = world.project.rounds.seat(world.project.rounds.named("pilot"), curator)
    views = seat.queue.open(document).mentions
    return [{one.name: value.name for one, value in view.attributes} for view in views]


def names(world: World) -> dict[str, list[str]]:
    return {one.name: [value.name for value in one.shown] for one in world.project.attributes.scheme().shown}


def test_a_round_sent_to_a_colleague_brings_the_attributes_and_takes_the_values_back(
    home: World, away: World, tmp_path: Path
) -> None:
    report = away.project.round_files.read(send(home, tmp_path / "out.jsonl"))
    assert names(away) == {"negation": ["affirmed", "negated"], "time": ["past", "now"]}
    assert (report.made, report.problems) == (True, [])
    first, second, third, _ = away.mentions(1)
    seat = away.project.rounds.seat(away.project.rounds.named("pilot"), "ben")
    seat.curation.decide_many([first], Verdict.nil())
    give(away, "ben", first, "negation", "negated")
    give(away, "ben", second, "time", "now")
    give(away, "ben", third, "time", "past")
    give(away, "ben", third, "time", None)
    give(home, "ann", home.mentions(1)[0], "negation", "negated")
    give(home, "ann", home.mentions(1)[1], "time", "past")
    back = send(away, tmp_path / "back.jsonl", "ben")
    report = home.project.round_files.read(back)
    assert (report.judgements, report.attributes, report.curators, report.problems) == (1, 2, ["ben"], [])
    assert report.text.startswith("Imported 1 judgement and 2 attribute values by ben into “pilot”")
    assert given(home, "ben") == [{"negation": "negated"}, {"time": "now"}, {}, {}]
    again = home.project.round_files.read(back)
    assert (again.judgements, again.attributes, again.known) == (0, 0, 3)
    rows = {row.part: row.observed for row in home.project.agreement.report("pilot", resamples=10).by_attribute}
    assert rows == {"negation": 1.0, "time": 0.0}
    # what is cleared later is cleared here too; what is later here stays
    give(away, "ben", first, "negation", None)
    assert home.project.round_files.read(send(away, tmp_path / "more.jsonl")).attributes == 1
    assert given(home, "ben")[:2] == [{}, {"time": "now"}]
    assert home.project.round_files.read(back).attributes == 0


def test_what_was_renamed_or_deleted_while_the_round_was_away_is_kept_and_said(
    home: World, away: World, tmp_path: Path
) -> None:
    away.project.round_files.read(send(home, tmp_path / "out.jsonl"))
    first, second, third, fourth = away.mentions(1)
    give(away, "ben", first, "negation", "negated")
    give(away, "ben", second, "time", "now")
    give(away, "ben", third, "time", "past")
    own = away.project.attributes.scheme().with_attribute("severity", ("mild",))
    away.project.attributes.save(own)
    give(away, "ben", fourth, "severity", "mild")
    back = send(away, tmp_path / "back.jsonl")
    # meanwhile: an attribute and a value renamed, a value deleted
    scheme = home.project.attributes.scheme().renamed(1, "polarity").value_renamed(2, "no").value_hidden(3, True)
    home.project.attributes.save(scheme)
    report = home.project.round_files.read(back)
    assert report.attributes == 4
    assert report.problems == [
        "“polarity” has the name “negation” in the file: it was renamed in one of the projects. It was read as "
        "“polarity”.",
        "“no” has the name “negated” in the file: it was renamed in one of the projects. It was read as “no”.",
        "1 value of “time: past” is hidden: the attribute or value was deleted in this project, or never defined. It "
        "was kept; restoring it in Annotate › Attributes of the project shows it.",
        "1 value of “severity: mild” is hidden: the attribute or value was deleted in this project, or never defined. "
        "It was kept; restoring it in Annotate › Attributes of the project shows it.",
    ]
    assert names(home) == {"polarity": ["affirmed", "no"], "time": ["now"]}
    assert given(home, "ben") == [{"polarity": "no"}, {"time": "now"}, {}, {}]
    now = home.project.attributes.scheme()
    home.project.attributes.save(now.value_hidden(3, False).hidden(now.attributes[-1].id, False))
    assert given(home, "ben") == [{"polarity": "no"}, {"time": "now"}, {"time": "past"}, {"severity": "mild"}]
    # the round sent again brings the new name to the colleague as that of the old one
    report = away.project.round_files.read(send(home, tmp_path / "again.jsonl"))
    assert given(away, "ben") == [{"negation": "negated"}, {"time": "now"}, {"time": "past"}, {"severity": "mild"}]
    assert set(names(away)) == {"negation", "time", "severity"}


def test_a_deleted_attribute_is_found_again_and_an_undone_name_too(home: World, away: World, tmp_path: Path) -> None:
    home.project.attributes.save(home.project.attributes.scheme().renamed(1, "polarity"))
    away.project.round_files.read(send(home, tmp_path / "out.jsonl"))
    give(away, "ben", away.mentions(1)[0], "polarity", "negated")
    home.project.curation.undo()
    home.project.attributes.save(home.project.attributes.scheme().hidden(1, True))
    report = home.project.round_files.read(send(away, tmp_path / "back.jsonl"))
    assert len(home.project.attributes.scheme().attributes) == 2
    assert report.attributes == 1
    assert "is hidden" in report.problems[-1]
    home.project.attributes.save(home.project.attributes.scheme().hidden(1, False))
    assert given(home, "ben")[0] == {"negation": "negated"}


def test_files_without_attributes_read_as_before_and_damaged_ones_change_nothing(
    home: World, away: World, tmp_path: Path
) -> None:
    give(home, "ann", home.mentions(1)[0], "negation", "negated")
    lines = send(home, tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    head, last = json.loads(lines[0]), json.loads(lines[-1])
    old = {key: value for key, value in head.items() if key != "attributes"}
    path = tmp_path / "x.jsonl"
    wrong = {
        "line 1: the definitions of attributes are damaged": [json.dumps(head | {"attributes": [{"id": 1}]})],
        "is not defined in line 1": [json.dumps(old), *lines[1:]],
        "this is not a line of a round": [lines[0], json.dumps(last | {"attributes": [{"attribute": "a"}]})],
    }
    for match, text in wrong.items():
        path.write_text("\n".join(text), encoding="utf-8")
        with pytest.raises(UserError, match=match):
            away.project.round_files.read(path)
    assert away.project.rounds.all() == []
    assert names(away) == {}
    path.write_text("\n".join([json.dumps(old), *lines[1:-1]]), encoding="utf-8")
    assert away.project.round_files.read(path).problems == []
    assert names(away) == {}


def test_adjudication_takes_the_attributes_with_the_judgements(home: World) -> None:
    project, (first, second, third, _) = home.project, home.mentions(1)
    found = project.rounds.named("pilot")
    for name, values in {"ann": (2, 1, None), "ben": (2, 2, 2)}.items():
        seat = project.rounds.seat(found, name)
        seat.curation.decide_many([first, second, third], Verdict.nil())
        for mention, value in zip((first, second, third), values, strict=True):
            if value is not None:
                seat.curation.set([mention], 1, value)
    project.rounds.close(found.id)
    state = project.adjudication.of(found.id)
    assert [one.mention.id for one in state.contested] == [second]  # the same link, another negation
    assert state.agreed == 2
    project.adjudication.adopt_agreed(found.id)
    project.adjudication.settle(found.id, second, "ann")
    views = project.queue.open(1).mentions
    assert [[value.name for _, value in view.attributes] for view in views] == [
        ["negated"],
        ["affirmed"],
        ["negated"],
        [],
    ]
    assert project.adjudication.of(found.id).done
    project.curation.undo()
    views = project.queue.open(1).mentions
    assert views[1].attributes == ()
    assert views[1].decision is None
