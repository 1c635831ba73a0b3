"""One spelling of identifiers in a file that is written: of decided and of undecided mentions, and the file's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.io.bioc import source_ids
from curator.io.files.idstyle import read_id, written_id
from curator.io.registry import default_registry
from curator.services.ports.files import DocumentFormat

Put = Callable[..., Path]

PUBTATOR = "1|t|ab cd ef\n1|a|\n1\t0\t2\tab\tDisease\tD008180\n1\t3\t5\tcd\tDisease\tD008180\n1\t6\t8\tef\tDisease\t-\n"
INFON = (
    '<annotation id="{n}"><infon key="type">Disease</infon><infon key="MESH">{id}</infon>'
    '<location offset="{at}" length="2"/><text>{text}</text></annotation>'
)
BIOC = (
    '<collection><document><id>1</id><passage><infon key="type">title</infon><offset>0</offset><text>ab cd ef</text>'
    + INFON.format(n=0, id="D008180", at=0, text="ab")
    + INFON.format(n=1, id="D008180", at=3, text="cd")
    + INFON.format(n=2, id="-", at=6, text="ef")
    + "</passage></document></collection>"
)


def written(
    make: SimpleNamespace, path: Path, name: str, out: Path, *, verdicts: dict[int, Verdict]
) -> tuple[list[Path], DocumentFormat]:
    """The file written as another format, with these decisions."""
    registry = default_registry()
    reader = registry.recognise(path).open(path)
    items = [make.export(one, verdicts=verdicts) for one in reader]
    form = registry.by_name(name)
    return form.write([(make.file(path, reader), items)], out), form


@pytest.mark.parametrize("source", [PUBTATOR, BIOC])
@pytest.mark.parametrize("name", ["brat", "xmi", "webanno-tsv", "pubannotation", "webannotation", "table", "docbin"])
def test_undecided_mentions_have_the_prefix_of_decided_ones(
    make: SimpleNamespace, put: Put, tmp_path: Path, source: str, name: str
) -> None:
    out = tmp_path / {"pubannotation": "o.json", "webannotation": "o.jsonld", "table": "o.csv"}.get(name, "o")
    paths, form = written(make, put(source), name, out, verdicts={0: Verdict.link("MESH:D000001")})
    (found,) = form.open(paths[0] if name == "table" else out)
    assert [(one.ids, one.nil) for one in found.mentions] == [
        (("MESH:D000001",), False),
        (("MESH:D008180",), False),
        ((), True),
    ]
    assert not any(b"CURATOR" in path.read_bytes() for path in paths)


@pytest.mark.parametrize("name", ["pubtator", "bioc-xml", "bioc-json"])
@pytest.mark.parametrize("source", [PUBTATOR, BIOC])
def test_the_habits_of_a_file_come_along(
    make: SimpleNamespace, put: Put, tmp_path: Path, source: str, name: str
) -> None:
    """Bare identifiers and the word for NIL, of decided and of undecided mentions."""
    verdicts = {0: Verdict.link("MESH:D000001")}
    (path,), form = written(make, put(source), name, tmp_path / "o", verdicts=verdicts)
    text = path.read_text(encoding="utf-8")
    assert ("D000001" in text, "D008180" in text, "MESH:" in text) == (True, True, False)
    (found,) = form.open(path)
    assert [one.raw_ids for one in found.mentions] == ["D000001", "D008180", "-"]


@pytest.mark.parametrize(
    ("text", "written_as"),
    [("MeSH:D008180", "MeSH:D000001"), ("MESH:D008180", "MESH:D000001"), ("x:1", "MESH:D000001")],
)
def test_a_prefix_is_spelled_as_in_the_file(
    make: SimpleNamespace, put: Put, tmp_path: Path, text: str, written_as: str
) -> None:
    put("ab cd", "c/one.txt")
    put(f"T1\tX 0 2\tab\nN1\tReference T1 {text}\t\nT2\tX 3 5\tcd\nN2\tReference T2 CUI-less:CUI-less\t\n", "c/one.ann")
    registry = default_registry()
    reader = registry.by_name("brat").open(tmp_path / "c")
    added = [(Span(0, 5), "Y", Verdict.link("MESH:D000001")), (Span(1, 2), "Y", Verdict.nil())]
    items = [make.export(one, added=added) for one in reader]
    registry.by_name("brat").write([(make.file(tmp_path / "c", reader), items)], tmp_path / "o")
    lines = (tmp_path / "o/one.ann").read_text().splitlines()
    assert {line.split(" ")[-1].strip() for line in lines if line.startswith("N")} == {
        text,
        written_as,
        "CUI-less:CUI-less",
    }


@pytest.mark.parametrize(
    ("entity_id", "plain", "prefixed"),
    [
        ("MESH:D1", "MESH:D1", "MESH:D1"),
        ("c|SUB|G|1691|A", "c|SUB|G|1691|A", "CURATOR:c|SUB|G|1691|A"),
        ("Fe2+/Fe3+", "Fe2+/Fe3+", "CURATOR:Fe2+/Fe3+"),
        ("Siege of Antioch", "CURATOR:Siege%20of%20Antioch", "CURATOR:Siege%20of%20Antioch"),
        ("100%20 x", "CURATOR:100%2520%20x", "CURATOR:100%2520%20x"),
        ("none", "CURATOR:none", "CURATOR:none"),
    ],
)
def test_only_white_space_is_escaped(entity_id: str, plain: str, prefixed: str) -> None:
    assert (written_id(entity_id), written_id(entity_id, prefixed=True)) == (plain, prefixed)
    assert read_id(plain) == read_id(prefixed) == entity_id


def test_a_document_of_many_undecided_mentions_is_gone_through_once(
    make: SimpleNamespace, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(source_ids, "is_gold", lambda gold: bool(asked.append(gold)))
    mentions = "".join(f"1\t{n}\t{n + 1}\tx\tDisease\tMESH:D008180\n" for n in range(200))
    written(make, put(f"1|t|{'x' * 200}\n1|a|\n{mentions}"), "table", tmp_path / "o.csv", verdicts={})
    assert len(asked) == 2 * 200
