"""Attributes of mentions in every format that holds them: written, read back, byte for byte where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import cassis
import pytest

from tests.curator.services.fakes import World, finish, make_world

FORMATS = {
    "bioc-xml": "out.xml",
    "bioc-json": "out.json",
    "brat": "out",
    "decisions": "out.decisions.jsonl",
    "pubannotation": "out.json",
    "table": "out.csv",
    "webannotation": "out.jsonld",
    "webanno-tsv": "out",
    "xmi": "out",
}
SPACELESS = ("brat", "webanno-tsv", "xmi")  # names have no blanks
OTHERWISE = ("decisions", "table", "bioc-xml")
"""They say who decided, and when; the head of a BioC collection is laid out anew. Neither is about attributes."""
SAID = {"негация": "да, нет", "family history": "other side of family", "zeit": "früher"}
MORE = {"severity": "mild", "zeit": "später"}


Worlds = Callable[[Path], World]


@pytest.fixture
def world_in() -> Iterator[Worlds]:
    """Makes projects, and closes them."""
    made: list[World] = []

    def make(folder: Path) -> World:
        folder.mkdir(parents=True, exist_ok=True)
        made.append(make_world(folder))
        return made[-1]

    yield make
    for one in made:
        one.project.close()


def content(path: Path) -> dict[str, bytes]:
    """Every file that was written, by its name."""
    files = sorted(path.parent.glob(f"{path.stem}*")) if not path.is_dir() else sorted(path.rglob("*"))
    return {one.name: one.read_bytes() for one in files if one.is_file()}


def said(world: World) -> list[dict[str, str]]:
    """The attributes of the mentions that have some, in their order."""
    views = world.project.queue.open(1).mentions
    return [{one.name: value.name for one, value in view.attributes} for view in views if view.attributes]


def define(world: World, given: dict[str, str], mention: int) -> None:
    for name, value in given.items():
        scheme = world.project.attributes.scheme()
        there = next((one for one in scheme.shown if one.name == name), None)
        scheme = scheme.with_attribute(name, [value, "else"]) if there is None else scheme.with_value(there.id, value)
        world.project.attributes.save(scheme)
        one = world.project.attributes.scheme().named(name)
        chosen = one.named(value)
        assert chosen is not None
        world.project.attributes.set([mention], one.id, chosen.id)


def mentions(world: World) -> list[int]:
    return [view.mention.id for view in world.project.queue.open(1).mentions]


def blanks(form: str, given: dict[str, str]) -> dict[str, str]:
    """As a format without blanks has the names, and brat the values too."""
    if form not in SPACELESS:
        return given
    spoken = {name.replace(" ", "_"): value for name, value in given.items()}
    return {name: value.replace(" ", "_") for name, value in spoken.items()} if form == "brat" else spoken


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest, world_in: Worlds) -> Path:
    """A file with attributes of two mentions, written by a project that had them from another format."""
    form: str = request.param
    world = world_in(tmp_path / "first")
    source = tmp_path / "a.txt"
    source.write_text(
        "7|t|Gout and fever\n7|a|No fever before the attack of gout.\n"
        "7\t0\t4\tGout\tDisease\tD006073\n7\t9\t14\tfever\tDisease\tD005334\n7\t50\t54\tgout\tDisease\tD006073\n\n"
    )
    finish(world.project.importing.documents([source]))
    first, second, _ = mentions(world)
    define(world, SAID, first)
    define(world, MORE, second)
    out = tmp_path / "one" / FORMATS[form]
    out.parent.mkdir()
    report = world.project.exporting.export(out, form)
    assert report.mentions == 3
    assert not [one.text for one in report.problems if "not written" in one.text]
    return out


@pytest.mark.parametrize(("form", "written"), [(one, one) for one in FORMATS], indirect=["written"])
def test_a_format_holds_attributes_and_gives_them_back(
    form: str, written: Path, tmp_path: Path, world_in: Worlds
) -> None:
    world = world_in(tmp_path / "second")
    project = world.project
    finish(project.importing.documents([written]))
    project.exporting.export(_out(tmp_path, "two", written), form)
    before = content(tmp_path / "two" / written.name)
    assert before == content(written) or form in OTHERWISE
    names = sorted(blanks(form, SAID | MORE))
    assert [one.name for one in project.file_attributes.found()] == names
    assert all(not one.known and not one.refusal and one.unset for one in project.file_attributes.found())
    assert project.file_attributes.read(names) is not None
    assert said(world) == [blanks(form, SAID), blanks(form, MORE)]
    again = _out(tmp_path, "three", written)
    report = project.exporting.export(again, form)
    assert not [one.text for one in report.problems if "attribute" in one.text]
    assert content(again) == before
    assert project.file_attributes.read(names) is None
    # one is changed, one cleared, one given to another mention; an unknown one stays
    first, second, third = mentions(world)
    scheme = project.attributes.scheme()
    time, severity = scheme.named("zeit"), scheme.named("severity")
    project.attributes.set([first], time.id, next(one.id for one in time.values if one.name == "später"))
    project.attributes.set([second], time.id, None)
    project.attributes.set([third], severity.id, severity.values[0].id)
    last = _out(tmp_path, "four", written)
    project.exporting.export(last, form)
    other = world_in(tmp_path / "third")
    finish(other.project.importing.documents([last]))
    other.project.file_attributes.read(names)
    assert said(other) == [blanks(form, SAID | {"zeit": "später"}), {"severity": "mild"}, {"severity": "mild"}]


@pytest.mark.parametrize(("form", "written"), [(one, one) for one in FORMATS], indirect=["written"])
def test_what_a_project_does_not_know_is_kept_and_said(
    form: str, written: Path, tmp_path: Path, world_in: Worlds
) -> None:
    world = world_in(tmp_path / "second")
    project = world.project
    finish(project.importing.documents([written]))
    define(world, {"zeit": "nie"}, mentions(world)[1])
    out = _out(tmp_path, "two", written)
    project.exporting.export(out, form)
    found = {one.name: one for one in project.file_attributes.found()}
    assert found["zeit"].known
    assert set(found["zeit"].lacking) == {"früher", "später"}
    other = world_in(tmp_path / "third")
    finish(other.project.importing.documents([out]))
    other.project.file_attributes.read(sorted(blanks(form, SAID | MORE)))
    assert said(other) == [blanks(form, SAID), MORE | {"zeit": "nie"}]
    elsewhere = "brat" if form != "brat" else "pubannotation"
    report = project.exporting.export(_out(tmp_path, "three", tmp_path / FORMATS[elsewhere]), elsewhere)
    assert any("has not read" in one.text and one.text.startswith("2 mentions") for one in report.problems)


def _out(folder: Path, name: str, written: Path) -> Path:
    (folder / name).mkdir()
    return folder / name / written.name


def test_names_that_a_format_uses_itself_are_written_under_another_one(tmp_path: Path, world_in: Worlds) -> None:
    world = world_in(tmp_path / "first")
    project = world.project
    (tmp_path / "a.txt").write_text("7|t|Gout\n7|a|\n7\t0\t4\tGout\tDisease\tD006073\n\n")
    finish(project.importing.documents([tmp_path / "a.txt"]))
    define(world, {"type": "x", "identifier": "y", "value": "z", "2nd": "first"}, mentions(world)[0])
    wanted = {
        "bioc-json": {"type_attribute", "identifier_attribute", "value", "2nd"},
        "pubannotation": {"type", "identifier_attribute", "value", "2nd"},
        "webanno-tsv": {"type_attribute", "identifier_attribute", "value_attribute", "a2nd"},
        "xmi": {"type_attribute", "identifier_attribute", "value_attribute", "a2nd"},
    }
    for form, names in wanted.items():
        out = _out(tmp_path, form, tmp_path / FORMATS[form])
        report = project.exporting.export(out, form)
        renamed = [one.text for one in report.problems if "is called" in one.text]
        assert len(renamed) == len(names - {"type", "identifier", "value", "2nd"})
        other = world_in(tmp_path / form / "p")
        finish(other.project.importing.documents([out]))
        assert {one.name for one in other.project.file_attributes.found()} == names
        mention = other.project.queue.open(1).mentions[0].mention
        assert (mention.type, mention.text) == ("Disease", "Gout")


def test_every_format_that_carries_attributes_reads_them() -> None:
    from curator.io.registry import default_registry

    formats = default_registry().formats()
    assert {one.name for one in formats if one.carries.attributes and one.can_write} == set(FORMATS)


FOREIGN = {
    # what other programs write: (name of the file, content, what it says, what a change must not touch)
    "pubannotation": (
        "a.json",
        '{\n "text": "No gout.",\n "sourceid":  "1",\n "denotations": [\n  {"id":"T1", "span":{"begin":3,"end":7}, '
        '"obj":"Disease"}\n ],\n "attributes": [\n  {"id":"A1", "subj":"T1", "pred":"Negated", "obj":true},\n'
        '  {"id":"A2", "subj":"T1", "pred":"time",  "obj":"now"}\n ],\n "extra": [1,2 ,3]\n}\n',
        {"Negated": "yes", "time": "now"},
        ['"sourceid":  "1"', '"extra": [1,2 ,3]', '{"id":"A1", "subj":"T1", "pred":"Negated", "obj":true}'],
    ),
    "bioc-json": (
        "a.json",
        '{"source":"x","infons":{},"documents":[\n{"id":"1","infons":{},"passages":[{"offset":0,"infons":{},'
        '"text":"No gout.","annotations":[{"id":"1","infons":{"type":"Disease","biotype":"disease",'
        '"Negated":"yes", "time":"now","n":[1 ]},'
        '"text":"gout","locations":[{"offset":3,"length":4}]}]}]}\n]}\n',
        {"Negated": "yes", "time": "now"},
        ['"infons":{"type":"Disease","biotype":"disease","Negated":"yes", "time":"later","n":[1 ]}'],
    ),
    "xmi": (
        "a.xmi",
        '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:cas="http:///uima/cas.ecore" xmlns:t="http:///org/apache/ctakes/typesystem/type/textsem.ecore" '
        'xmi:version="2.0"><cas:NULL xmi:id="0"/><t:DiseaseDisorderMention xmi:id="5" sofa="1" begin="3" end="7" '
        'Negated="yes" time="now"/><cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" '
        'sofaString="No gout."/><cas:View sofa="1" members="5"/></xmi:XMI>\n',
        {"Negated": "yes", "time": "now"},
        ['Negated="yes" time="later"/>'],
    ),
    "webanno-tsv": (
        "a.tsv",
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Disease|Negated|time|value\n\n\n#Text=No gout.\n"
        "1-1\t0-2\tNo\t_\t_\t_\t\n1-2\t3-7\tgout\tyes\tnow\tDisease\t\n1-3\t7-8\t.\t_\t_\t_\t\n",
        {"Negated": "yes", "time": "now"},
        ["#T_SP=webanno.custom.Disease|Negated|time|value\n", "gout\tyes\tlater\tDisease"],
    ),
    "table": (
        "a.csv",
        "document,text,start,end,type,attributes\n1,No gout.,3,7,Disease,Negated=yes|time = now;odd\n",
        {"Negated": "yes", "time": "now"},
        ['"Negated=yes|odd|time=later"'],
    ),
}


@pytest.mark.parametrize("form", FOREIGN)
def test_files_of_other_programs_are_read_and_only_what_changed_is_written(
    form: str, tmp_path: Path, world_in: Worlds
) -> None:
    name, text, given, kept = FOREIGN[form]
    world, path = world_in(tmp_path / "p"), tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(text.encode())
    finish(world.project.importing.documents([path]))
    project = world.project
    assert {one.name: list(one.values) for one in project.file_attributes.found()} == {
        name: [value] for name, value in given.items()
    }
    project.file_attributes.read(["Negated", "time"])
    assert said(world) == [given]
    first = _out(tmp_path, "one", path)
    project.exporting.export(first, form)
    assert first.read_bytes() == text.encode() or form == "table"
    scheme = project.attributes.scheme()
    project.attributes.save(scheme.with_value(scheme.named("time").id, "later"))
    time = project.attributes.scheme().named("time")
    project.attributes.set(mentions(world), time.id, time.values[-1].id)
    last = _out(tmp_path, "two", path)
    project.exporting.export(last, form)
    written = last.read_bytes().decode()
    if last.suffix == ".json":  # which keeps its indentation and separators, but not each space
        written, kept = "".join(written.split()), ["".join(one.split()) for one in kept]
    assert not [one for one in kept if one not in written], written
    project.attributes.set(mentions(world), time.id, None)
    project.exporting.export(_out(tmp_path, "three", path), form)
    assert "time=" not in (tmp_path / "three" / name).read_text()
    assert "later" not in (tmp_path / "three" / name).read_text()


def test_other_programs_open_the_types_that_are_written(tmp_path: Path, world_in: Worlds) -> None:
    world = world_in(tmp_path / "p")
    (tmp_path / "a.txt").write_text("7|t|Gout\n7|a|\n7\t0\t4\tGout\tDisease\tD006073\n\n")
    finish(world.project.importing.documents([tmp_path / "a.txt"]))
    define(world, SAID, mentions(world)[0])
    world.project.exporting.export(tmp_path / "out", "xmi")
    with (tmp_path / "out" / "TypeSystem.xml").open("rb") as stream:
        system = cassis.load_typesystem(stream)
    with next((tmp_path / "out").glob("*.xmi")).open("rb") as stream:
        cas = cassis.load_cas_from_xmi(stream, typesystem=system)
    (entity,) = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    assert {name: entity.get(name) for name in ("негация", "family_history", "zeit")} == {
        "негация": "да, нет",
        "family_history": "other side of family",
        "zeit": "früher",
    }
