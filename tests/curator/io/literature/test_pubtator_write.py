"""PubTator written: unchanged bytes, edited lines, new records, and what cannot be carried."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError
from curator.io.files.idstyle import IdStyle
from curator.io.literature.pubtator import PubTatorFormat, join_text, new_record

Put = Callable[..., Path]

RECORD = (
    "1|t|renal and hepatic failure\n"
    "1|a|after aspirin\n"
    "1\t0\t25\trenal and hepatic failure\tDisease\tD1|D2\trenal failure|hepatic failure\n"
    "1\t32\t39\taspirin\tChemical\tD000001\n"
    "1\tCID\tD000001\tD1\n"
    "\n"
)
OTHER = SourceFile(1, "/x.txt", "x.txt", "plain", "0" * 64)


def written(make: SimpleNamespace, path: Path, **changes: object) -> tuple[str, PubTatorFormat]:
    form = PubTatorFormat()
    reader = form.open(path)
    first, *others = list(reader)
    items = [make.export(first, **changes), *(make.export(d) for d in others)]
    (out,) = form.write([(make.file(path, reader), items)], path.with_name("out.txt"))
    return out.read_bytes().decode("utf-8"), form


ODDITIES = [
    RECORD,
    "\n" + RECORD + RECORD,
    RECORD.replace("\n", "\r\n"),
    "\ufeff" + RECORD[:-2],
    RECORD + "junk\n\n\n2|t|\n2|a|\n",
    RECORD.replace("aspirin", "\U0001f600 irin").replace("32\t39", "32\t38"),
    RECORD.replace("32\t39", "33\t40").replace("D000001\n", " D000001 \n", 1),
    "1|t|a\u2028b\x0bc\u0085\n1|a|\n3\t0\t1\ta\tX\tD1\n",
    "1|t|no abstract\n1\t0\t2\tno\tX\n",
]


@pytest.mark.parametrize("text", ODDITIES)
@pytest.mark.parametrize("zipped", [False, True])
def test_unchanged_files_are_written_back_byte_for_byte(
    make: SimpleNamespace, put: Put, text: str, zipped: bool
) -> None:
    path = put(text, zipped=zipped)
    assert written(make, path)[0] == text


def test_a_changed_decision_rewrites_its_id_column_only(make: SimpleNamespace, put: Put) -> None:
    text, _ = written(make, put(RECORD), verdicts={1: Verdict.link("MESH:D009999")})
    assert text == RECORD.replace("Chemical\tD000001\n", "Chemical\tD009999\n")


def test_a_relation_that_loses_its_mention_is_told(make: SimpleNamespace, put: Put) -> None:
    text, form = written(make, put(RECORD), verdicts={1: Verdict.link("MESH:D009999")})
    assert "1\tCID\tD000001\tD1\n" in text
    assert [one.text for one in form.problems] == [
        'document 1: a relation refers to "D000001", which no mention has any more'
    ]


def test_nil_is_minus_one_and_the_parts_that_no_longer_fit_go(make: SimpleNamespace, put: Put) -> None:
    text, _ = written(make, put(RECORD), verdicts={0: Verdict.nil()})
    assert "\tDisease\t-1\n" in text
    text, _ = written(make, put(RECORD), verdicts={0: Verdict.link("MESH:D000003", "MESH:D000004")})
    assert "\tDisease\tD000003|D000004\trenal failure|hepatic failure\n" in text


@pytest.mark.parametrize(("seen", "mark"), [(("-",), "-"), (("-", "-", "-1"), "-"), (("-", "-1"), "-1"), (("",), "-1")])
def test_a_new_nil_is_the_word_of_the_file(make: SimpleNamespace, put: Put, seen: tuple[str, ...], mark: str) -> None:
    lines = "".join(f"1\t{at}\t{at + 1}\ta\tX\t{word}\n" for at, word in enumerate(seen))
    text, _ = written(
        make, put(f"1|t|aaaaa\n1|a|\n{lines}1\t4\t5\ta\tX\tD008180\n"), verdicts={len(seen): Verdict.nil()}
    )
    assert text == f"1|t|aaaaa\n1|a|\n{lines}1\t4\t5\ta\tX\t{mark}\n"


def test_a_seventh_column_stays_when_it_is_a_score_or_the_habit(make: SimpleNamespace, put: Put) -> None:
    scored = "1|t|abc\n1|a|\n1\t0\t3\tabc\tX\tD1\t0.97\n1\t0\t1\ta\tX\tD1\ta|b\n"
    text, _ = written(make, put(scored), verdicts={0: Verdict.nil(), 1: Verdict.nil()})
    assert text == "1|t|abc\n1|a|\n1\t0\t3\tabc\tX\t-1\t0.97\n1\t0\t1\ta\tX\t-1\t\n"


def test_a_line_without_an_id_column_gets_one(make: SimpleNamespace, put: Put) -> None:
    path = put("1|t|abc\r\n1|a|\r\n1\t0\t3\tabc\tX\r\n")
    text, _ = written(make, path, verdicts={0: Verdict.link("DOID:5")})
    assert text == "1|t|abc\r\n1|a|\r\n1\t0\t3\tabc\tX\tDOID:5\r\n"


def test_deleted_and_rejected_mentions_lose_their_lines(make: SimpleNamespace, put: Put) -> None:
    line = "1\t32\t39\taspirin\tChemical\tD000001\n"
    assert written(make, put(RECORD), removed=[1])[0] == RECORD.replace(line, "")
    text, form = written(make, put(RECORD), verdicts={1: Verdict.reject()})
    assert text == RECORD.replace(line, "")
    assert "rejected" in form.problems[0].text


def test_skipped_mentions_stay_as_the_source_has_them(make: SimpleNamespace, put: Put) -> None:
    assert written(make, put(RECORD), verdicts={1: Verdict.skip()})[0] == RECORD


def test_deleting_the_last_line_keeps_the_missing_line_end(make: SimpleNamespace, put: Put) -> None:
    path = put("1|t|abc\r\n1|a|\r\n1\t0\t3\tabc\tX\tD1\r\n1\t0\t1\ta\tX\tD1")
    assert written(make, path, removed=[1])[0] == "1|t|abc\r\n1|a|\r\n1\t0\t3\tabc\tX\tD1"
    added = [(Span(1, 2), "X", Verdict.link("D2"))]
    assert written(make, path, added=added)[0].endswith("1\t0\t1\ta\tX\tD1\r\n1\t1\t2\tb\tX\tD2")


def test_new_mentions_stand_by_their_offsets(make: SimpleNamespace, put: Put) -> None:
    added = [(Span(18, 25), "Disease", Verdict.link("MESH:D051437")), (Span(26, 31), "Disease", Verdict.nil())]
    text, _ = written(make, put(RECORD), added=added)
    new = "1\t18\t25\tfailure\tDisease\tD051437\n1\t26\t31\tafter\tDisease\t-1\n"
    assert text == RECORD.replace("1\t32\t39", new + "1\t32\t39")


def test_new_mentions_of_a_document_without_any(make: SimpleNamespace, put: Put) -> None:
    added = [(Span(0, 3), "X", Verdict.link("MESH:D000001"))]
    text, _ = written(make, put("1|t|abc\n1|a|def\n1\tCID\ta\tb\n\n"), added=added)
    assert text == "1|t|abc\n1|a|def\n1\t0\t3\tabc\tX\tMESH:D000001\n1\tCID\ta\tb\n\n"


def test_undecided_new_mentions_and_discontinuous_ones_are_reported(make: SimpleNamespace, put: Put) -> None:
    apart = (Span(0, 5), Span(18, 25))
    added = [(Span(26, 31), "X", None), (apart, "X", Verdict.link("D1"))]
    text, form = written(make, put(RECORD), added=added)
    assert text == RECORD
    assert [(p.severity, "discontinuous" in p.text) for p in form.problems] == [("note", False), ("set aside", True)]


def test_documents_that_are_not_exported_leave_the_others_as_they_were(make: SimpleNamespace, put: Put) -> None:
    path, form = put(RECORD + RECORD.replace("1", "2") + RECORD), PubTatorFormat()
    reader = form.open(path)
    items = [make.export(d) for d in reader]
    (out,) = form.write([(make.file(path, reader), items[::2])], path.with_name("o"))
    assert out.read_bytes().decode() == RECORD + RECORD


def test_several_files_go_into_a_folder(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form, files = PubTatorFormat(), []
    for folder in ("a", "b"):
        path = put(RECORD, f"{folder}/x.txt.gz", zipped=True)
        reader = form.open(path)
        files.append((path, reader, [make.export(d) for d in reader]))
    chosen = [(make.file(path, reader), items) for path, reader, items in files]
    outs = form.write(chosen, tmp_path / "out")
    assert [p.name for p in outs] == ["x.txt", "x-2.txt"]
    assert {p.read_bytes().decode() for p in outs} == {RECORD}


def test_a_missing_folder_is_a_sentence(make: SimpleNamespace, put: Put) -> None:
    form, path = PubTatorFormat(), put(RECORD)
    reader = form.open(path)
    items = [make.export(d) for d in reader]
    with pytest.raises(UserError, match="the folder does not exist"):
        form.write([(make.file(path, reader), items)], path.parent / "no" / "out.txt")
    with pytest.raises(UserError, match="nothing to export"):
        form.write([], path.parent / "out.txt")


def test_a_document_without_title_passage_shifts_by_the_separator(make: SimpleNamespace, put: Put) -> None:
    source = SourceDocument("9", "", "only text", (Passage("abstract", 0, 9),), ())
    item = make.export(source, added=[(Span(5, 9), "X", Verdict.link("D1"))])
    text = new_record(item, OTHER, IdStyle(), [])
    assert text == "9|t|\n9|a|only text\n9\t6\t10\ttext\tX\tD1\n\n"
    (again,) = list(PubTatorFormat().open(put(text)))
    assert again.mentions[0].text == "text"


def test_line_breaks_of_another_format_become_spaces(make: SimpleNamespace, put: Put) -> None:
    source = SourceDocument("9", "a b", "a b\nc\nd\te", (Passage("title", 0, 3), Passage("abstract", 4, 9)), ())
    item = make.export(source, added=[(Span(2, 9), "X", Verdict.nil())])
    text = new_record(item, OTHER, IdStyle(), [])
    assert text == "9|t|a b\n9|a|c d e\n9\t2\t9\tb c d e\tX\t-1\n\n"
    (again,) = list(PubTatorFormat().open(put(text)))
    assert again.mentions[0].spans == (Span(2, 9),)


LINE = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\t\0"), max_size=30)
IDS = st.lists(st.from_regex(r"(MESH:|OMIM:)?[A-Z]{0,2}[0-9]{1,6}", fullmatch=True), max_size=3, unique=True)


@st.composite
def documents(draw: st.DrawFn) -> SourceDocument:
    title, abstract = draw(LINE), draw(LINE)
    text, passages = join_text(title, abstract)
    mentions = []
    for _ in range(draw(st.integers(0, 4)) if text.strip() else 0):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        if text[start:end].strip():
            ids = tuple(draw(IDS))
            kind = draw(st.sampled_from(["Disease", "Chemical"]))
            mentions.append(SourceMention((Span(start, end),), text[start:end], kind, ids, nil=not ids))
    ordered = sorted(mentions, key=lambda m: (m.spans[0].start, -m.spans[0].end))
    return SourceDocument(draw(st.from_regex(r"[0-9]{1,8}", fullmatch=True)), title, text, passages, tuple(ordered))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=st.lists(documents(), min_size=1, max_size=3), crlf=st.booleans())
def test_what_is_written_is_read(make: SimpleNamespace, found: list[SourceDocument], crlf: bool) -> None:
    items = [make.fresh(make.export(d), [m.ids for m in d.mentions]) for d in found]
    text = "".join(new_record(item, OTHER, IdStyle(), []) for item in items)
    data = text.replace("\n", "\r\n").encode() if crlf else text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        form = PubTatorFormat()
        reader = form.open(path)
        again = list(reader)
        (out,) = form.write([(make.file(path, reader), [make.export(d) for d in again])], path.with_name("y"))
        assert out.read_bytes() == data
    plain = [
        dataclasses.replace(
            d,
            raw="",
            line=0,
            mentions=tuple(dataclasses.replace(m, raw_ids="", record=-1) for m in d.mentions),
        )
        for d in again
    ]
    assert plain == found
    assert {p.severity for p in reader.problems} <= {"note"}
