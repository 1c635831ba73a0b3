"""ZESHEL documents as entities."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.kb.zeshel import ZeshelKbReader, definition_of, synonyms_of

Put = Callable[..., Path]


def line(number: int, title: str, body: str = "is here .") -> str:
    return json.dumps({"title": title, "text": f"{title} {body}", "document_id": f"{number:02X}"}) + "\n"


def test_a_world_becomes_a_type(put: Put) -> None:
    path = put(line(1, "Mistfall ( audio story )") + line(2, "Drell"), "documents/who.json")
    first, second = ZeshelKbReader.open(path)
    assert (first.id, first.name, first.synonyms, first.types) == (
        "01",
        "Mistfall ( audio story )",
        ("Mistfall",),
        ("who",),
    )
    assert first.definition == second.definition == "is here ."


def test_a_folder_holds_several_worlds(put: Put, tmp_path: Path) -> None:
    put(line(1, "a"), "documents/x.json")
    put(line(2, "b") + line(1, "again"), "documents/y.json.gz", zipped=True)
    for folder in (tmp_path, tmp_path / "documents"):
        reader = ZeshelKbReader.open(folder)
        assert [(e.id, e.types) for e in reader] == [("01", ("x",)), ("02", ("y",))]
        assert [(p.line, p.severity) for p in reader.problems] == [(2, "set aside")]
        assert reader.position[0] == reader.position[1]


def test_definitions_are_cut_at_200_tokens() -> None:
    assert definition_of("T", "T " + "w " * 200) == " ".join(["w"] * 200)
    assert definition_of("T", "T " + "w " * 201) == " ".join(["w"] * 200) + " ..."
    assert definition_of("T", "other  text") == "other text"


@pytest.mark.parametrize(
    ("title", "synonyms"),
    [("A ( b )", ("A",)), ("A", ()), ("( b )", ()), ("A ( b ) c", ()), ("A ( 1 ) ( 2 )", ("A ( 1 )",))],
)
def test_titles_without_their_phrase(title: str, synonyms: tuple[str, ...]) -> None:
    assert synonyms_of(title) == synonyms


def test_unusable_lines_and_folders(put: Put, tmp_path: Path) -> None:
    reader = ZeshelKbReader.open(put(line(1, "a") + "{broken\n" + '{"document_id": 5}\n', "documents/x.json"))
    assert len(list(reader)) == 1
    assert [p.line for p in reader.problems] == [2, 3]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="without ZESHEL documents"):
        ZeshelKbReader.open(tmp_path / "empty")
    with pytest.raises(UserError, match="is not a ZESHEL documents file"):
        ZeshelKbReader.open(put("{}\n"))


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("place", ["", "documents"])
@pytest.mark.parametrize("link", ["file", "folder"])
def test_links_that_lead_out_of_the_folder_are_not_followed(put: Put, tmp_path: Path, place: str, link: str) -> None:
    private = put(line(1, "Private"), "private/x.json")
    (folder := tmp_path / "kb").mkdir()
    if link == "folder":
        (folder / "documents").symlink_to(private.parent)
    else:
        (folder / place).mkdir(exist_ok=True)
        put(line(2, "Own"), f"kb/{place}/own.json")
        (folder / place / "x.json").symlink_to(private)
    with pytest.raises(UserError, match=r"x\.json was not opened: it leads out of the folder .*kb through a link"):
        ZeshelKbReader.open(folder)
    assert len(list(ZeshelKbReader.open(folder / "documents" if link == "folder" else folder / place / "x.json"))) == 1
