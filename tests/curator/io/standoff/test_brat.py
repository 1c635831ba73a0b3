"""brat read and written: fragments, normalisations, notes, events, and what goes with a mention."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceFile, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff.brat import BratFormat
from tests.curator.io.standoff_samples import read, written

Put = Callable[..., Path]

TEXT = "Renal and hepatic failure\nafter aspirin\nand ibuprofen."
ANN = (
    "T1\tDisease 0 5;18 25\tRenal failure\n"
    "T2\tChemical 32 39\taspirin\n"
    "T3\tPhrase 26 39;40 43\tafter aspirin and\n"
    "T4\tCause 26 31\tafter\n"
    "E1\tCause:T4 Theme:T1 Agent:T2\n"
    "R1\tCID Arg1:T2 Arg2:T1\t\n"
    "*\tEquiv T1 T2 T3\n"
    "N1\tReference T1 MESH:D051437\tRenal Insufficiency\n"
    "N2\tReference T1 OMIM:1:2\tother\n"
    "A1\tNegation T2\n"
    "#1\tAnnotatorNotes T2\tcheck this\n"
)


@pytest.fixture
def corpus(put: Put, tmp_path: Path) -> Path:
    put(TEXT, "c/sub/one.txt"), put(ANN, "c/sub/one.ann"), put("[entities]\nDisease\n", "c/annotation.conf")
    put("no annotations\n", "c/sub/two.txt"), put("", "c/sub/two.ann"), put("bare", "c/sub/three.txt")
    return tmp_path / "c"


def test_entities_are_mentions_with_their_normalisations(corpus: Path) -> None:
    found, problems = read(BratFormat(), corpus)
    assert [one.external_id for one in found] == ["sub/one", "sub/three", "sub/two"]
    assert [(m.text, m.type, m.ids, m.spans) for m in found[0].mentions] == [
        ("Renal failure", "Disease", ("MESH:D051437", "OMIM:1:2"), (Span(0, 5), Span(18, 25))),
        ("aspirin", "Chemical", (), (Span(32, 39),)),
        ("after aspirin\nand", "Phrase", (), (Span(26, 43),)),
    ]
    assert (found[0].text, found[0].title, problems) == (TEXT, "Renal and hepatic failure", [])
    assert [one.nil for one in found[0].mentions] == [False, False, False]


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_unchanged_files_go_back_as_they_were(make: SimpleNamespace, corpus: Path, tmp_path: Path, name: str) -> None:
    (form, out) = BratFormat(), tmp_path / name
    written(make, form, corpus, out)
    assert form.problems == []
    assert read(form, out) == read(form, corpus)
    if name == "out":
        files = {str(one.relative_to(out)): one.read_bytes() for one in out.rglob("*.*")}
        assert files == {str(one.relative_to(corpus)): one.read_bytes() for one in corpus.rglob("*.*")}


def ann(make: SimpleNamespace, corpus: Path, tmp_path: Path, **changes: object) -> tuple[str, list[str]]:
    form = BratFormat()
    written(make, form, corpus, tmp_path / "out", **changes)
    text = (tmp_path / "out" / "sub" / "one.ann").read_bytes().decode()
    return text, [one.text for one in form.problems]


def test_a_decision_replaces_the_normalisations(make: SimpleNamespace, corpus: Path, tmp_path: Path) -> None:
    verdicts = {0: Verdict.link("OMIM:1:2", "A b"), 1: Verdict.nil()}
    text, _ = ann(make, corpus, tmp_path, verdicts=verdicts)
    expected = ANN.replace("N1\tReference T1 MESH:D051437\tRenal Insufficiency\n", "")
    expected = expected.replace("\tother\n", "\tother\nN3\tReference T1 CURATOR:A%20b\t\n")
    expected = expected.replace("\taspirin\n", "\taspirin\nN4\tReference T2 NIL:NIL\t\n", 1)
    assert text == expected
    found, _ = read(BratFormat(), tmp_path / "out")
    assert [(m.ids, m.nil) for m in found[0].mentions[:2]] == [(("OMIM:1:2", "A b"), False), ((), True)]


def test_what_is_about_a_deleted_mention_goes_with_it(make: SimpleNamespace, corpus: Path, tmp_path: Path) -> None:
    text, problems = ann(make, corpus, tmp_path, removed=[1])
    for line in ("T2\tChemical", "R1\t", "A1\t", "#1\t"):
        assert line not in text
    assert "E1\tCause:T4 Theme:T1\n" in text
    assert "*\tEquiv T1 T3\n" in text
    assert problems == [
        f"document sub/one: {key} was removed together with the annotation it refers to" for key in ("R1", "A1", "#1")
    ]


def test_new_mentions_are_appended_with_keys_of_their_own(make: SimpleNamespace, corpus: Path, tmp_path: Path) -> None:
    added = [((Span(18, 31),), "Some type", Verdict.link("MESH:D1"))]
    text, problems = ann(make, corpus, tmp_path, added=added)
    new = "T5\tSome_type 18 25;26 31\tfailure after\nN3\tReference T5 MESH:D1\t\n"
    assert text == ANN + new
    assert "written as Some_type" in problems[0]


def test_a_bare_text_gets_its_annotations(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    put("bare", "c/a.txt"), put("x", "c/b.txt"), put("", "c/b.ann")
    written(make, BratFormat(), tmp_path / "c", tmp_path / "o", added=[(Span(0, 4), "X", Verdict.nil())])
    assert (tmp_path / "o/a.ann").read_text() == "T1\tX 0 4\tbare\nN1\tReference T1 NIL:NIL\t\n"


def test_bionlp_parts_stay_apart(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    put("IL-4 binds", "c/a.txt"), put("T1\tProtein 0 4\tIL-4\n", "c/a.a1")
    put("T2\tBinding 5 10\tbinds\nE1\tBinding:T2 Theme:T1\n", "c/a.a2")
    form = BratFormat()
    assert [m.text for m in read(form, tmp_path / "c")[0][0].mentions] == ["IL-4"]
    written(make, form, tmp_path / "c", tmp_path / "o", verdicts={0: Verdict.link("UniProt:P1")})
    assert (tmp_path / "o/a.a1").read_text() == "T1\tProtein 0 4\tIL-4\nN1\tReference T1 UniProt:P1\t\n"
    assert (tmp_path / "o/a.a2").read_text() == (tmp_path / "c/a.a2").read_text()


def test_offsets_of_other_conventions_are_repaired_and_the_rest_is_set_aside(put: Put, tmp_path: Path) -> None:
    put("\U0001f600 one two \U0001f600 one", "c/a.txt")
    put("T1\tX 3 6;7 10\tone two\nT2\tX 90 93\tnone\nT3 broken\nT4\tX 2 2\t\n", "c/a.ann")
    put("T1\tX 0 1\ta\n", "c/lone.ann"), put(b"\xff", "c/bad.txt"), put("", "c/bad.ann")
    (found,), problems = read(BratFormat(), tmp_path / "c")
    assert [m.spans for m in found.mentions] == [(Span(2, 5), Span(6, 9))]
    assert [one.partition(":")[0] for one in problems] == ["set aside", "repaired"] + ["set aside"] * 4
    assert any("lone.ann: the text lone.txt is missing" in one for one in problems)
    assert any("not UTF-8" in one for one in problems)


@pytest.mark.parametrize("mark", ["...", " ... ", "\u2026", " [...] ", "[\u2026]", " \u2026 "])
def test_a_gap_may_be_marked(make: SimpleNamespace, put: Put, tmp_path: Path, mark: str) -> None:
    put(TEXT, "c/one.txt")
    path = put(f"T1\tDisease 0 5;18 25;32 39\tRenal{mark}failure aspirin\n", "c/one.ann")
    (found,), problems = read(BratFormat(), tmp_path / "c")
    assert [m.spans for m in found.mentions] == [(Span(0, 5), Span(18, 25), Span(32, 39))]
    assert problems == []
    written(make, BratFormat(), tmp_path / "c", tmp_path / "out")
    assert (tmp_path / "out/one.ann").read_bytes() == path.read_bytes()


def test_it_is_recognised_as_a_folder_and_as_either_file(corpus: Path, put: Put, tmp_path: Path) -> None:
    registry = default_registry()
    for path in (corpus, corpus / "sub/one.ann", corpus / "sub/one.txt"):
        assert registry.recognise(path).name == "brat"
        assert read(BratFormat(), path)[0][-1].text
    put("no\tann", "d/a.ann")
    with pytest.raises(UserError, match="contains none of the formats"):
        registry.recognise(tmp_path / "d")
    with pytest.raises(UserError, match="is not brat"):
        BratFormat().open(tmp_path / "d")


def test_several_sources_go_into_folders_of_their_own(make: SimpleNamespace, corpus: Path, tmp_path: Path) -> None:
    form = BratFormat()
    items = [make.export(one) for one in read(form, corpus)[0]]
    files = [SourceFile(n, name, name, "other", "") for n, name in enumerate(["a.txt.gz", "a.json"])]
    form.write([(file, items) for file in files], tmp_path / "o")
    assert (tmp_path / "o/a/sub/one.ann").exists()
    assert (tmp_path / "o/a-2/sub/one.ann").exists()


MARK = "\ufeff"


@pytest.mark.parametrize(("text", "ann"), [(MARK, MARK), (MARK, ""), ("", MARK)])
@pytest.mark.parametrize("counted", [True, False])
def test_byte_order_marks_make_no_corpus_plain_text(
    make: SimpleNamespace, put: Put, tmp_path: Path, text: str, ann: str, *, counted: bool
) -> None:
    shift = len(text) if counted else 0
    first = f"{ann}T1\tDrug {5 + shift} {12 + shift}\taspirin\nN1\tReference T1 MESH:D1\t\n"
    put(f"{text}With aspirin.\n", "c/a.txt"), put(first, "c/a.ann"), put("With it.\n", "c/b.txt"), put("", "c/b.ann")
    assert default_registry().recognise(tmp_path / "c").name == "brat"
    (found, _), problems = read(BratFormat(), tmp_path / "c")
    assert [(one.text, one.ids) for one in found.mentions] == [("aspirin", ("MESH:D1",))]
    assert found.text.startswith(MARK) is bool(shift), "offsets stay those of the file"
    assert problems == []
    written(make, BratFormat(), tmp_path / "c", tmp_path / "out")
    for name in ("a.txt", "a.ann"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "c" / name).read_bytes()
