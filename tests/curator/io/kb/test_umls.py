"""UMLS: files side by side, filters, concepts that were merged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb.umls import UmlsReader
from curator.services.ports.files import KbOptions

Put = Callable[..., Path]


def row(cui: str, name: str, *, lat: str = "ENG", best: bool = False, sab: str = "MSH", suppress: str = "N") -> str:
    ts, stt = ("P", "PF") if best else ("S", "VO")
    return f"{cui}|{lat}|{ts}|L1|{stt}|S1|{'Y' if best else 'N'}|A1||M1|D1|{sab}|MH|D1|{name}|0|{suppress}||\n"


@pytest.fixture
def folder(put: Put) -> Path:
    concepts = (
        row("C0000001", "uno", lat="SPA", best=True)
        + row("C0000001", "one, the")
        + row("C0000001", 'the "one" 😀', best=True, sab="NCI")
        + row("C0000001", "old one", suppress="O")
        + row("C0000003", "three", sab="NCI")
        + row("C0000004", "vier", lat="GER")
        + "C0000005|short|\n"
    )
    put(concepts, "META/MRCONSO.RRF.gz", zipped=True)
    put(
        "C0000001|T047|B2|Disease or Syndrome|A|256|\nC0000003|T121|A1|Pharmacologic Substance|A|256|\n",
        "META/MRSTY.RRF",
    )
    put("C0000002|A|A||NCI|Nothing.|N||\nC0000003|A|A||NCI|Is three.|N||\n", "META/MRDEF.RRF")
    merged = "C0000007|2020AA|SY|||C0000008|Y|\nC0000008|2021AA|SY|||C0000001|Y|\nC0000009|2021AA|DEL|||||\n"
    return put(merged, "META/MRCUI.RRF").parent.parent


def test_concepts(folder: Path) -> None:
    reader = UmlsReader.open(folder)
    assert list(reader) == [
        Entity(
            "UMLS:C0000001",
            'the "one" 😀',
            ("one, the",),
            ("Disease or Syndrome",),
            alt_ids=("UMLS:C0000007", "UMLS:C0000008"),
        ),
        Entity("UMLS:C0000003", "three", (), ("Pharmacologic Substance",), "Is three."),
    ]
    assert [(one.line, one.severity) for one in reader.problems] == [(7, "set aside")]
    assert reader.position[0] == reader.position[1] > 0


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (KbOptions(languages=("de", "es")), ["uno", "vier"]),
        (KbOptions(vocabularies=("NCI",)), ['the "one" 😀', "three"]),
        (KbOptions(types=("t047",)), ['the "one" 😀']),
        (KbOptions(types=("pharmacologic substance",)), ["three"]),
    ],
)
def test_filters(folder: Path, options: KbOptions, names: list[str]) -> None:
    assert [one.name for one in UmlsReader.open(folder, options)] == names


def test_suppressed_names_when_asked_for(folder: Path) -> None:
    first = next(iter(UmlsReader.open(folder, KbOptions(suppressed=True))))
    assert "old one" in first.synonyms


def test_what_is_missing_or_unsorted(put: Put, tmp_path: Path) -> None:
    assert not UmlsReader.sniff_path(tmp_path)
    with pytest.raises(UserError, match=r"contains no MRCONSO\.RRF"):
        UmlsReader.open(tmp_path)
    reader = UmlsReader.open(put(row("C0000002", "b") + row("C0000001", "a"), "MRCONSO.RRF"))
    with pytest.raises(UserError, match="not sorted by CUI"):
        list(reader)
    assert [one.severity for one in reader.problems] == ["note"] * 3


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("name", ["META", "META/MRCONSO.RRF.gz", "META/MRDEF.RRF"])
def test_links_that_lead_out_of_the_folder_are_not_followed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    private = (folder / name).rename(tmp_path_factory.mktemp("elsewhere") / "private")
    (folder / name).symlink_to(private)
    with pytest.raises(UserError, match=r"\.RRF(\.gz)? was not opened: it leads out of the folder"):
        UmlsReader.open(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
def test_a_chosen_file_may_be_a_link_and_those_beside_it_may_not(folder: Path, tmp_path: Path) -> None:
    for name in ("MRCONSO.RRF.gz", "MRDEF.RRF"):
        (folder / "META" / name).rename(tmp_path / name)
    chosen = folder / "META/MRCONSO.RRF.gz"
    chosen.symlink_to(tmp_path / chosen.name)
    assert len(list(UmlsReader.open(chosen))) == 2
    (folder / "META/MRDEF.RRF").symlink_to(tmp_path / "MRDEF.RRF")
    with pytest.raises(UserError, match=r"MRDEF\.RRF was not opened"):
        UmlsReader.open(chosen)
