"""Attributes of imported files: read when asked for, written back, and byte for byte where nothing changed."""

from __future__ import annotations

import json

import pytest

from curator.domain.attributes import Scheme
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, finish

TEXT = "No fever today. Gout, maybe.\n"
ANN = (
    "T1\tDisease 3 8\tfever\n"
    "A1\tNegation T1\n"
    "A2\tCertainty T1 certain\n"
    "T2\tDisease 16 20\tGout\n"
    "A3\tCertainty T2 maybe\n"
    "#1\tAnnotatorNotes T2\tcheck\n"
)


@pytest.fixture
def brat(world: World) -> World:
    folder = world.folder / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT, encoding="utf-8", newline="")
    (folder / "a.ann").write_text(ANN, encoding="utf-8", newline="")
    finish(world.project.importing.documents([folder]))
    return world


def written(world: World, name: str = "out") -> str:
    world.project.exporting.export(world.folder / name, "brat")
    return (world.folder / name / "a.ann").read_bytes().decode("utf-8")


def test_what_files_have_is_listed_read_in_one_step_and_written_back_as_it_was(brat: World) -> None:
    project = brat.project
    assert [(one.name, dict(one.values), one.known) for one in project.file_attributes.found()] == [
        ("Certainty", {"certain": 1, "maybe": 1}, False),
        ("Negation", {"yes": 1}, False),
    ]
    change = project.file_attributes.read(["Negation", "Certainty"])
    assert change is not None
    assert change.text == "Read attributes of 2 mentions from the files: Certainty, Negation"
    views = project.queue.open(1).mentions
    assert [{one.name: value.name for one, value in view.attributes} for view in views] == [
        {"Negation": "yes", "Certainty": "certain"},
        {"Certainty": "maybe"},
    ]
    assert written(brat) == ANN
    assert project.file_attributes.read(["Negation"]) is None
    project.curation.undo()
    assert project.attributes.scheme().shown == ()
    with pytest.raises(UserError, match="No imported file"):
        project.file_attributes.read(["Time"])


def test_changed_attributes_change_their_lines_alone(brat: World) -> None:
    project = brat.project
    assert written(brat, "before") == ANN
    project.file_attributes.read(["Negation", "Certainty"])
    scheme = project.attributes.scheme()
    first, second = (view.mention.id for view in project.queue.open(1).mentions)
    negation, certainty = scheme.named("Negation"), scheme.named("Certainty")
    project.attributes.set([first], negation.id, None)
    project.attributes.set([second], negation.id, negation.values[0].id)
    project.attributes.set([second], certainty.id, certainty.values[0].id)
    lines = written(brat).splitlines()
    assert lines[:3] == ["T1\tDisease 3 8\tfever", "A2\tCertainty T1 certain", "T2\tDisease 16 20\tGout"]
    assert set(lines[3:]) == {
        "#1\tAnnotatorNotes T2\tcheck",
        "A4\tNegation T2",
        "A5\tCertainty T2 certain",
    }
    assert project.file_attributes.read(["Negation", "Certainty"]) is None  # what was cleared stays cleared


def test_json_lines_carry_them_and_other_formats_say_that_they_do_not(brat: World) -> None:
    project = brat.project
    project.file_attributes.read(["Certainty"])
    out = brat.folder / "a.decisions.jsonl"
    report = project.exporting.export(out, "decisions")
    said = [one.text for one in report.problems if "attributes" in one.text]
    assert len(said) == 1
    assert said[0].startswith("1 mention has attributes in its file that the project has not read")
    line = json.loads(out.read_text(encoding="utf-8"))
    assert [one.get("attributes") for one in line["mentions"]] == [{"Certainty": "certain"}, {"Certainty": "maybe"}]
    report = project.exporting.export(brat.folder / "a.pubtator", "pubtator")
    said = [one.text for one in report.problems if "attributes" in one.text]
    assert len(said) == 1
    assert said[0].startswith("2 mentions have attributes that were not written")
    table = brat.folder / "a.csv"
    project.exporting.export(table, "table")
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith('"attributes"')
    assert lines[1].endswith('"Certainty=certain"')


def test_a_value_that_a_curator_sets_meanwhile_stays(brat: World, monkeypatch: pytest.MonkeyPatch) -> None:
    project = brat.project
    project.attributes.save(Scheme().with_attribute("Certainty", ("certain", "maybe")))
    write = brat.store.write

    def after_a_colleague() -> object:
        monkeypatch.setattr(brat.store, "write", write)
        project.attributes.set([1], 1, 2)
        return write()

    monkeypatch.setattr(brat.store, "write", after_a_colleague)
    change = project.file_attributes.read(["Certainty"])
    assert change is not None
    assert change.mention_ids == (2,)
    assert [value.name for _, value in project.attributes.of([1])[1]] == ["maybe"]
