"""Identifier lists split and written by each corpus's own rules."""

from __future__ import annotations

import pytest

from curator.io.files.idstyle import IdStyle, detect_style


def rows(*ids: str, kind: str = "Disease") -> list[list[str]]:
    return [["1", "0", "3", "abc", kind, raw] for raw in ids]


def test_separators_are_those_of_the_file() -> None:
    assert detect_style(rows("D002318|D012131", "-1", "D1")).separators == "|"
    assert detect_style(rows("D007153+D040181", "D1|D2", "D3|OMIM:5")).separators == "|+"
    assert detect_style(rows("3845,4893", "-")).separators == ","
    assert detect_style(rows("D1")).separators == "|"


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        ("D002318|D012131", ("D002318", "D012131")),
        ("D002544|-1", ("D002544",)),
        (" D015862+D058499", ("D015862", "D058499")),
        ("OMIM:604370|OMIM:612555|D010051", ("OMIM:604370", "OMIM:612555", "D010051")),
        ("D020258|D020258", ("D020258",)),
        ("-1", ()),
        ("", ()),
    ],
)
def test_ncbi_lists_split_at_bar_and_plus(raw: str, ids: tuple[str, ...]) -> None:
    assert detect_style(rows("A1|B2", "A1+B2")).split(raw, "SpecificDisease") == ids


def test_variants_keep_their_bars_and_plusses() -> None:
    variants = ("c|SUB|G|1691|A", "c|INS|76+1|T", "rs6025,rs1799963")
    style = detect_style([*rows(*variants, kind="SequenceVariant"), *rows("3845,4893", kind="GeneOrGeneProduct")])
    assert style.separators == ","
    assert style.split("c|SUB|G|1691|A", "SequenceVariant") == ("c|SUB|G|1691|A",)
    assert style.split("c|INS|76+1|T", "SequenceVariant") == ("c|INS|76+1|T",)
    assert style.split("rs6025,rs1799963", "SequenceVariant") == ("rs6025", "rs1799963")
    assert style.split("3845,4893", "GeneOrGeneProduct") == ("3845", "4893")
    barred = detect_style([*rows(*variants, kind="SequenceVariant"), *rows("D1|D2")])
    assert barred.split("c|SUB|G|1691|A", "SequenceVariant") == ("c|SUB|G|1691|A",)


@pytest.mark.parametrize(
    ("seen", "entity", "written"),
    [
        (["D003000", "D012131"], "MESH:D009999", "D009999"),
        (["D003000", "D012131"], "MESH:D000086382", "D000086382"),
        (["MESH:D003000"], "MESH:D009999", "MESH:D009999"),
        (["MeSH:D003000"], "MESH:D009999", "MeSH:D009999"),
        (["D003000", "OMIM:217000"], "OMIM:5", "OMIM:5"),
        (["D003000"], "OMIM:5", "OMIM:5"),
        (["D003000"], "UMLS:C0027051", "UMLS:C0027051"),
        (["C0027051"], "UMLS:C0011849", "C0011849"),
        (["3845"], "NCBIGene:7", "7"),
        (["-1"], "MESH:D009999", "MESH:D009999"),
        (["D003000"], "925ED6501F6D4BD6", "925ED6501F6D4BD6"),
    ],
)
def test_new_ids_follow_the_habit_of_the_file(seen: list[str], entity: str, written: str) -> None:
    assert detect_style(rows(*seen)).spell(entity) == written


def test_lists_are_joined_as_the_line_was() -> None:
    style = detect_style(rows("A1|B2", "A1+B2", "C1|C2"))
    assert style.join(["X1", "X2"]) == "X1|X2"
    assert style.join(["X1", "X2"], "A1+B2") == "X1+X2"
    assert style.join([]) == "-1"
    assert style.join(["v1", "v2"], mention_type="SequenceVariant") == "v1,v2"


def test_style_survives_storage() -> None:
    style = detect_style([[*row, ""] for row in rows("D003000|OMIM:5")])
    assert style.columns == 7
    assert IdStyle.load(style.dump()) == style
    assert IdStyle.load("") == IdStyle()
