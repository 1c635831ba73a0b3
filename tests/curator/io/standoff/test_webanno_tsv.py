"""WebAnno TSV 3 read and written: UTF-16 offsets, stacked annotations, parts of tokens, relations and slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff.webanno_tsv import WebAnnoFormat
from tests.curator.io.standoff_samples import read, written
from tests.rewriting import source_file, unchanged

Put = Callable[..., Path]
NE = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
POS = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"

FILE = f"""#FORMAT=WebAnno TSV 3.3
#T_SP={POS}|PosValue
#T_SP={NE}|identifier|value
#T_SP=webanno.custom.Trigger|ROLE_webanno.custom.Trigger:arg_webanno.custom.Link|{NE}
#T_RL=webanno.custom.Cause|kind|BT_{NE}


#Text=\U0001f600 Renal failure ,
1-1	0-2	\U0001f600	SYM	_	_	_	_	_	_	$
1-2	3-8	Renal	ADJ	MESH:D051437[1]|*[2]	Disease[1]|Any\\_[2]	_	_	_	_	$
1-3	9-16	failure	NN	MESH:D051437[1]	Disease[1]	_	_	_	_	$
1-4	17-18	,	PU	_	_	_	_	_	_	$

#Text=after ibuprofen .
2-1	19-24	after	IN	_	_	agent	2-2	_	_	$
2-2	25-34	ibuprofen	NN	_	Chemical	_	_	causes	1-2[1_0]	$
2-2.1	25-28	ibu	_	*	Part	_	_	_	_	$
2-3	35-36	.	PU	_	_	_	_	_	_	$
""".replace("$\n", "\n")


def test_layers_that_say_what_things_are_hold_mentions(put: Put) -> None:
    path = put(FILE, "one.tsv")
    assert default_registry().recognise(path).name == "webanno-tsv"
    (found,), problems = read(WebAnnoFormat(), path)
    assert (found.external_id, found.text, problems) == ("one", "\U0001f600 Renal failure ,\nafter ibuprofen .", [])
    assert [(m.text, m.type, m.ids, m.spans[0].start) for m in found.mentions] == [
        ("Renal failure", "Disease", ("MESH:D051437",), 2),
        ("Renal", "Any_", (), 2),
        ("after", "Trigger", (), 18),
        ("ibuprofen", "Chemical", (), 24),
        ("ibu", "Part", (), 24),
    ]
    assert [found.text[one.start : one.end] for one in found.passages] == found.text.split("\n")


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), "\ufeff" + FILE, FILE + "junk\n"])
def test_unchanged_files_go_back_byte_for_byte(make: SimpleNamespace, put: Put, text: str, tmp_path: Path) -> None:
    (out,) = written(make, WebAnnoFormat(), put(text), tmp_path / "out.tsv")
    assert out.read_bytes().decode() == text


def test_the_real_sample(make: SimpleNamespace, shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "formats/webanno_tsv/example2.tsv"
    (found,), problems = read(WebAnnoFormat(), path)
    assert problems == []
    assert found.mentions[0].text == "Ms. Haag"
    assert {m.type for m in found.mentions} == {"PER", "ORG", "LOC", "OTH"}
    assert [m.text for m in found.mentions if m.type == "LOC"] == ["U.S.", "U.S.", "Los Angeles"]
    (out,) = written(make, WebAnnoFormat(), path, tmp_path / "out.tsv")
    assert out.read_bytes() == path.read_bytes()
    (out,) = written(make, WebAnnoFormat(), path, tmp_path / "new.tsv", verdicts={0: Verdict.link("WD:Q1")})
    (changed,), problems = read(WebAnnoFormat(), out)
    assert changed.mentions[0].ids == ("WD:Q1",)
    assert [(m.spans, m.type) for m in changed.mentions] == [(m.spans, m.type) for m in found.mentions]
    assert (changed.text, problems) == (found.text, [])
    assert "\tSBJ\t1-3\t\n" in out.read_text()


def lines(make: SimpleNamespace, put: Put, tmp_path: Path, **changes: object) -> tuple[list[str], list[str]]:
    form = WebAnnoFormat()
    (out,) = written(make, form, put(FILE), tmp_path / "out.tsv", **changes)
    return out.read_text().split("\n"), [one.text for one in form.problems]


def test_a_decision_changes_its_cells_only(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    verdicts = {0: Verdict.link("MESH:D1", "a b"), 3: Verdict.nil()}
    found, problems = lines(make, put, tmp_path, verdicts=verdicts)
    old = FILE.split("\n")
    changed = [(one, other) for one, other in zip(old, found, strict=True) if one != other]
    assert [new.split("\t")[4] for _, new in changed] == [
        "MESH:D1 CURATOR:a%20b[1]|*[2]",
        "MESH:D1 CURATOR:a%20b[1]",
        "NIL",
    ]
    assert problems == []
    (again,), _ = read(WebAnnoFormat(), tmp_path / "out.tsv")
    assert [(m.ids, m.nil) for m in again.mentions][::3] == [(("MESH:D1", "a b"), False), ((), True)]


def test_relations_go_with_a_deleted_mention(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    found, problems = lines(make, put, tmp_path, removed=[3])
    assert "2-2\t25-34\tibuprofen\tNN\t_\t_\t_\t_\t_\t_\t" in found
    assert problems == ["document file.txt: a relation at 2-2 was removed together with its mention"]


def test_relations_go_with_a_mention_that_was_moved_off_all_tokens(put: Put, tmp_path: Path) -> None:
    form = WebAnnoFormat()
    reader = form.open(path := put(FILE))
    (item,) = unchanged(list(reader))
    moved = replace(item.mentions[3].mention, spans=(Span(7, 8),), text=" ")
    mentions = (*item.mentions[:3], replace(item.mentions[3], mention=moved, reshaped=True), *item.mentions[4:])
    (out,) = form.write([(source_file(path, reader), [replace(item, mentions=mentions)])], tmp_path / "out.tsv")
    assert "2-2\t25-34\tibuprofen\tNN\t_\t_\t_\t_\t_\t_\t" in out.read_text().split("\n")
    assert [one.text for one in form.problems if "at 2-2 was removed" in one.text]


def test_new_mentions_are_stacked_and_cut_tokens(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    added = [
        (Span(8, 15), "X", Verdict.link("A:1")),
        (Span(24, 28), "Y|[", Verdict.link("A:2")),
        ((Span(2, 7), Span(24, 33)), "Z", Verdict.nil()),
    ]
    found, problems = lines(make, put, tmp_path, added=added)
    assert "1-3\t9-16\tfailure\tNN\tMESH:D051437[1]|A:1[3]\tDisease[1]|X[3]\t_\t_\t_\t_\t" in found
    assert "2-2.2\t25-29\tibup\t_\tA:2\tY\\|\\[\t_\t_\t_\t_\t" in found
    assert "discontinuous" in problems[0]
    (again,), _ = read(WebAnnoFormat(), tmp_path / "out.tsv")
    assert {(m.text, m.type, m.ids) for m in again.mentions} >= {("failure", "X", ("A:1",)), ("ibup", "Y|[", ("A:2",))}


def test_a_layer_without_a_place_for_identifiers_gets_one(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.2\n#T_SP=webanno.custom.Gene|value\n#T_SP=x.Other|f\n\n\n#Text=a b\n"
    text = head + "1-1\t0-1\ta\tg[1]|h[2]\tu\t\n1-2\t2-3\tb\t_\tv\t\n"
    (out,) = written(make, WebAnnoFormat(), put(text), tmp_path / "o.tsv", verdicts={0: Verdict.link("A:1")})
    assert "#T_SP=webanno.custom.Gene|value|identifier\n" in out.read_text()
    assert "1-1\t0-1\ta\tg[1]|h[2]\tA:1[1]|*[2]\tu\t\n" in out.read_text()
    (found,), _ = read(WebAnnoFormat(), out)
    assert [(m.type, m.ids) for m in found.mentions] == [("g", ("A:1",)), ("h", ()), ("Other", ()), ("Other", ())]


def test_code_point_offsets_and_wrong_ones_are_said(put: Put) -> None:
    text = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={NE}|value\n\n\n#Text=\U0001f600 a b\n"
    text += "1-1\t0-1\t\U0001f600\t_\t\n1-2\t2-3\ta\tX\t\n1-3\t4-5\tb\tX\t\n"
    (found,), problems = read(WebAnnoFormat(), put(text))
    assert [m.text for m in found.mentions] == ["a", "b"]
    assert "count code points" in problems[0]
    (found,), problems = read(WebAnnoFormat(), put(text.replace("4-5", "40-50").replace("1-1\t", "odd\t")))
    assert [m.text for m in found.mentions] == ["a"]
    assert [one.partition(":")[0] for one in problems] == ["set aside", "note", "repaired", "set aside"]


def test_a_token_of_thousands_of_annotations_is_set_aside_and_kept(
    make: SimpleNamespace, put: Put, tmp_path: Path
) -> None:
    damaged = "1-1\t0-1\ta\tX" + "|" * 5000 + "\t"
    path = put(f"#FORMAT=WebAnno TSV 3.3\n#T_SP={NE}|value\n\n\n#Text=a b\n{damaged}\n1-2\t2-3\tb\tY\t\n")
    (found,), problems = read(WebAnnoFormat(), path)
    assert [m.text for m in found.mentions] == ["b"]
    assert "this is not the line of a token" in problems[0]
    (out,) = written(make, WebAnnoFormat(), path, tmp_path / "o.tsv", verdicts={0: Verdict.nil()})
    assert damaged in out.read_text()


def test_a_token_gets_no_more_mentions_than_are_read(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    added = [(Span(8, 15), f"X{number}", Verdict.nil()) for number in range(1001)]
    _, problems = lines(make, put, tmp_path, added=added)
    assert len(problems) == 2, "the file has one there itself"
    assert problems[0].endswith('"failure" is on a token that already has 1,000 mentions: left out')
    (again,), said = read(WebAnnoFormat(), tmp_path / "out.tsv")
    assert (sum("failure" in one.text for one in again.mentions), said) == (1000, [])


def test_folders_and_foreign_files(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    put(FILE, "d/a.tsv"), put(FILE, "d/sub/b.tsv"), put("x\ty\n", "d/c.tsv")
    assert default_registry().recognise(tmp_path / "d").name == "webanno-tsv"
    assert [one.external_id for one in read(WebAnnoFormat(), tmp_path / "d")[0]] == ["a", "sub/b"]
    (out,) = written(make, WebAnnoFormat(), tmp_path / "d", tmp_path / "o.zip")
    assert [one.external_id for one in read(WebAnnoFormat(), out)[0]] == ["a", "sub/b"]
    with pytest.raises(UserError, match="only one document"):
        written(make, WebAnnoFormat(), tmp_path / "d", tmp_path / "o.tsv")
