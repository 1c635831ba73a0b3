"""The targets of fuzzing: every reader, recognition, and the parts of a project, a linker, a round or an answer. New
formats are included automatically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from curator.domain.documents import SourceDocument, slice_spans
from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.jobs.wire import WireError
from curator.services.ports.files import DocumentFormat, DocumentReader
from models.errors import ModelError
from tests.fuzz import parts
from tests.fuzz.others import Rounds, read_wire
from tests.fuzz.packing import as_folder, as_zip
from tests.fuzz.writing import write_back

KB = "kb-"
FOLDERS = ("kb-umls", "kb-zeshel", "zeshel", "folder", "project", "workbook", "kb-workbook")
"""Targets whose inputs are several files: beside each other, or the parts of one."""


@dataclass(frozen=True, slots=True)
class Target:
    """`place` writes an input below a fresh folder and returns the path to be read; `read` raises
    nothing but `refusals`, whose sentences are for the user."""

    name: str
    place: Callable[[bytes, Path], Path]
    read: Callable[[Path], None]
    refusals: tuple[type[Exception], ...] = (UserError,)


def targets() -> Mapping[str, Target]:
    """By name: documents by their format's name, knowledge bases after `kb-`, archives after `zip-`."""
    registry = default_registry()
    found = [Target("recognise", _file, _recognised), Target("archive", _archive, _recognised)]
    found.append(Target("folder", _folder, _recognised))
    for form in registry.formats():
        if form.can_read:
            place = _beside if form.name in FOLDERS else _file
            found.append(Target(form.name, place, _documents(form)))
            if form.takes_folders:
                found.append(Target(f"zip-{form.name}", _zip, _documents(form)))
    for name, title in registry.knowledge_bases():
        del title
        place = _folder if KB + name in FOLDERS else _file
        found.append(Target(KB + name, place, _entities(name)))
    rounds = Rounds()
    found.append(Target("round", rounds.place, rounds.read))
    found.append(Target("wire", _file, read_wire, (WireError,)))
    found.append(Target("workbook", parts.place_workbook, _documents(registry.by_name("table"))))
    found.append(Target("kb-workbook", parts.place_workbook, _entities("table")))
    found.append(Target("project", parts.place_project, parts.read_project))
    databases = parts.Databases()
    found.append(Target("database", databases.place, databases.read))
    found.append(Target("manifest", parts.place_manifest, parts.read_manifest, (ModelError,)))
    found.append(Target("settings", parts.place_settings, parts.read_settings))
    found.append(Target("reply", _file, parts.read_reply, parts.NO_ANSWER))
    return {one.name: one for one in found}


# --- where inputs go ---


def _file(data: bytes, folder: Path) -> Path:
    path = folder / "input"
    path.write_bytes(data)
    return path


def _archive(data: bytes, folder: Path) -> Path:
    path = folder / "input.zip"
    path.write_bytes(data)
    return path


def _zip(data: bytes, folder: Path) -> Path:
    return _archive(as_zip(data), folder)


def _folder(data: bytes, folder: Path) -> Path:
    path = folder / "input"
    path.mkdir()
    as_folder(data, path)
    return path


def _beside(data: bytes, folder: Path) -> Path:
    """Several files, of which one is named: mentions, with their documents beside."""
    path = _folder(data, folder)
    files = [one for one in path.rglob("*") if one.is_file()]
    named = sorted(files, key=lambda one: (one.parent.name != "mentions", one.as_posix()))
    return named[0] if named else path


# --- reading ---


def _documents(form: DocumentFormat) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        reader = form.open(path)
        found = _checked(reader)
        if form.can_write and found:
            write_back(form, path, reader, found)

    return read


def _checked(reader: DocumentReader) -> list[SourceDocument]:
    """The documents, as storage wants them: texts that UTF-8 holds, spans that quote what they say."""
    found = []
    for one in reader:
        _storable(one.external_id, one.title, one.text, one.raw, *(p.label for p in one.passages))
        assert all(0 <= p.start <= p.end <= len(one.text) for p in one.passages), "a passage outside of its text"
        for mention in one.mentions:
            _storable(mention.text, mention.type, mention.raw_ids, *mention.ids)
            assert mention.spans, "a mention without a span"
            assert mention.text == slice_spans(one.text, mention.spans), "a mention that quotes something else"
        found.append(one)
    _storable(reader.head, reader.tail, reader.extra, *(p.text for p in reader.problems))
    return found


def _recognised(path: Path) -> None:
    registry = default_registry()
    try:
        _checked(registry.recognise(path).open(path))
    except UserError:
        for entity in registry.open_kb(path):
            _storable_entity(entity)


def _entities(name: str) -> Callable[[Path], None]:
    from curator.io.formats import KNOWLEDGE_BASES

    source = next(one for one in KNOWLEDGE_BASES if one.format == name)

    def read(path: Path) -> None:
        reader = source.open(path)
        for entity in reader:
            _storable_entity(entity)
        _storable(*(p.text for p in reader.problems))

    return read


def _storable_entity(one: Entity) -> None:
    assert one.id, "an entity without an id"
    assert one.name, "an entity without a name"
    _storable(one.id, one.name, one.definition, *one.synonyms, *one.types, *one.alt_ids, *one.parents)


def _storable(*texts: str) -> None:
    for text in texts:
        text.encode()  # lone surrogates are refused
