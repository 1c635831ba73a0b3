"""PubTator read: every oddity of the format, and every problem with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.documents import SourceDocument, slice_spans
from curator.domain.wording import UserError
from curator.io.files.source import Source
from curator.io.literature.pubtator import PubTatorFormat, PubTatorReader

Put = Callable[..., Path]


def read(path: Path) -> tuple[list[SourceDocument], PubTatorReader]:
    reader = PubTatorFormat().open(path)
    documents = list(reader)
    whole = reader.head + "".join(d.raw for d in documents) + reader.tail
    assert whole == "".join(Source(path).lines()), "the records do not add up to the file"
    for document in documents:
        for mention in document.mentions:
            assert slice_spans(document.text, mention.spans) == mention.text
    return documents, reader


def report(reader: PubTatorReader) -> list[tuple[int, str]]:
    return [(p.line, p.severity) for p in reader.problems]


def test_title_abstract_and_mentions(put: Put) -> None:
    headers = "7|t|Aspirin again.\n7|a|It hurts.\n"
    path = put(headers + "7\t0\t7\tAspirin\tChemical\tD001241\n7\t18\t23\thurts\tSign\tMESH:D010146\n\n")
    (document,), reader = read(path)
    assert (document.external_id, document.title, document.line) == ("7", "Aspirin again.", 1)
    assert document.text == "Aspirin again.\nIt hurts."
    assert [(p.kind, p.start, p.end) for p in document.passages] == [("title", 0, 14), ("abstract", 15, 24)]
    assert [(m.text, m.type, m.ids, m.record) for m in document.mentions] == [
        ("Aspirin", "Chemical", ("D001241",), 2),
        ("hurts", "Sign", ("MESH:D010146",), 3),
    ]
    assert reader.problems == []


def test_titles_hold_bars(put: Put) -> None:
    (document,), _ = read(put("1|t|A|t|B | C\n1|a|x|y\n"))
    assert document.title == "A|t|B | C"
    assert document.text == "A|t|B | C\nx|y"


@pytest.mark.parametrize("raw", ["-1", "-", "", " -1 "])
def test_nil_is_written_in_several_ways(put: Put, raw: str) -> None:
    (document,), _ = read(put(f"1|t|abc\n1|a|\n1\t0\t3\tabc\tDisease\t{raw}\n1\t0\t1\ta\tDisease\tD1\n"))
    assert (document.mentions[0].nil, document.mentions[0].ids, document.mentions[0].raw_ids) == (True, (), raw)
    assert not document.mentions[1].nil


def test_nil_as_a_missing_column(put: Put) -> None:
    (document,), reader = read(put("1|t|abc\n1|a|\n1\t0\t3\tabc\tDisease\n"))
    assert document.mentions[0].nil
    assert report(reader) == [(0, "note")]  # the whole file has no ids: worth saying


def test_a_concept_beside_nil_is_no_nil(put: Put) -> None:
    (document,), _ = read(put("1|t|abc\n1|a|\n1\t0\t3\tabc\tDisease\tD002544|-1\ta|b\n"))
    assert document.mentions[0].ids == ("D002544",)
    assert not document.mentions[0].nil


def test_stray_spaces_are_kept_in_raw_ids_only(put: Put) -> None:
    (document,), _ = read(put("1|t|abc\n1|a|\n1\t0\t3\tabc\tDisease\t D008661\n1\t0\t1\ta\tDisease\tOMIM:106210 \n"))
    assert [(m.ids, m.raw_ids) for m in document.mentions] == [
        (("D008661",), " D008661"),
        (("OMIM:106210",), "OMIM:106210 "),
    ]


def test_relations_and_seventh_columns_are_no_problem(put: Put) -> None:
    text = "1|t|abc\n1|a|\n1\tCID\tD1\tD2\n1\t0\t3\tabc\tDisease\tD1|D2\ta|b\n"
    text += "1\tAssociation\t3845\tD1\tNovel\n1\t0\t1\ta\tGene\t7\t0.9\n"
    (document,), reader = read(put(text))
    assert [m.record for m in document.mentions] == [3, 5]
    assert reader.problems == []


def test_two_documents_with_one_pmid_are_two_documents(put: Put) -> None:
    record = "8528200|t|abc\n8528200|a|def\n8528200\t0\t3\tabc\tDisease\tD1\n"
    for between in ("\n", ""):
        documents, reader = read(put(record + between + record))
        assert [d.external_id for d in documents] == ["8528200", "8528200"]
        assert [len(d.mentions) for d in documents] == [1, 1]
        assert reader.problems == []


def test_leading_and_trailing_blank_lines_belong_to_head_and_last_record(put: Put) -> None:
    (document,), reader = read(put("\n \n1|t|a\n1|a|b\n\n\n"))
    assert reader.head == "\n \n"
    assert document.raw == "1|t|a\n1|a|b\n\n\n"
    assert document.line == 3


def test_bom_crlf_and_missing_final_newline(put: Put) -> None:
    (document,), reader = read(put("\ufeff1|t|abc\r\n1|a|def\r\n1\t0\t3\tabc\tDisease\tD1"))
    assert reader.head == "\ufeff"
    assert document.text == "abc\ndef"
    assert document.mentions[0].ids == ("D1",)


@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1c", "\u2029"])
def test_other_line_separators_stay_in_the_text(put: Put, odd: str) -> None:
    (document,), reader = read(put(f'1|t|a{odd}b "c\n1|a|d{odd}e\n1\t7\t10\td{odd}e\tDisease\tD1\n'))
    assert document.text == f'a{odd}b "c\nd{odd}e'
    assert document.mentions[0].text == f"d{odd}e"
    assert reader.problems == []


def test_nothing_is_normalised(put: Put) -> None:
    (document,), _ = read(put("1|t|e\u0301 ﬁ\n1|a|\n1\t0\t2\te\u0301\tX\tD1\n"))
    assert document.text == "e\u0301 ﬁ"


def test_empty_abstract_and_no_abstract_line(put: Put) -> None:
    documents, reader = read(put("1|t|abc\n1|a|\n\n2|t|def\n2\t0\t3\tdef\tX\tD1\n"))
    assert [d.text for d in documents] == ["abc", "def"]
    assert report(reader) == [(4, "note")]


def test_empty_title_still_counts_one_character(put: Put) -> None:
    (document,), reader = read(put("1|t|\n1|a|abc def\n1\t1\t4\tabc\tX\tD1\n"))
    assert document.text == "\nabc def"
    assert document.title == ""
    assert reader.problems == []


def test_unsorted_and_nested_mentions_keep_the_order_of_the_file(put: Put) -> None:
    (document,), _ = read(
        put(
            "1|t|breast cancer\n1|a|\n1\t7\t13\tcancer\tX\tD1\n1\t0\t13\tbreast cancer\tX\tD2\n1\t0\t6\tbreast\tX\tD3\n"
        )
    )
    assert [m.text for m in document.mentions] == ["cancer", "breast cancer", "breast"]


def test_trailing_space_inside_a_mention(put: Put) -> None:
    (document,), reader = read(
        put("1|t|abc def\n1|a|\n1\t0\t4\tabc \tX\tD1\n1\t0\t4\tabc\tX\tD1\n1\t4\t7\tdef  \tX\tD1\n")
    )
    assert [m.text for m in document.mentions] == ["abc ", "abc", "def"]
    assert report(reader) == [(4, "repaired"), (5, "repaired")]


@pytest.mark.parametrize(
    ("start", "end", "says"),
    [
        (5, 8, "UTF-16"),
        (9, 12, "UTF-8 bytes"),
        (3, 6, "one too small"),
        (40, 43, "occurs only once"),
    ],
)
def test_other_conventions_are_found_and_named(put: Put, start: int, end: int, says: str) -> None:
    (document,), reader = read(put(f"1|t|é\U0001f600é abc\n1|a|\n1\t{start}\t{end}\tabc\tX\tD1\n"))
    assert [(s.start, s.end) for s in document.mentions[0].spans] == [(4, 7)]
    assert report(reader) == [(3, "repaired")]
    assert says in reader.problems[0].text


def test_offsets_relative_to_the_abstract(put: Put) -> None:
    (document,), reader = read(put("1|t|a title\n1|a|see abc, abc\n1\t4\t7\tabc\tX\tD1\n"))
    assert document.mentions[0].spans[0].start == 12
    assert "relative to the abstract" in reader.problems[0].text


def test_the_nearest_place_in_the_passage_or_none(put: Put) -> None:
    text = "1|t|x\n1|a|abc .......... abc\n1\t12\t15\tabc\tX\tD1\n1\t9\t12\tnone\tX\tD1\n1\t6\t9\tabc\tX\tD2\n"
    (document,), reader = read(put(text))
    assert [(m.spans[0].start, m.ids) for m in document.mentions] == [(17, ("D1",)), (2, ("D2",))]
    assert report(reader) == [(3, "repaired"), (4, "set aside"), (5, "repaired")]


def test_two_places_equally_near_are_ambiguous(put: Put) -> None:
    (document,), reader = read(put("1|t|abc .. . .. abc\n1|a|\n1\t6\t9\tabc\tX\tD1\n"))
    assert document.mentions == ()
    assert report(reader) == [(3, "set aside")]


def test_a_quote_that_differs_in_compatibility_characters_only(put: Put) -> None:
    (document,), reader = read(put("1|t|ﬁbrosis\n1|a|\n1\t0\t7\tFibrosis\tX\tD1\n"))
    assert document.mentions[0].text == "ﬁbrosis"
    assert report(reader) == [(3, "repaired")]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2\t0\t3\tabc\tX\tD1", "document '2'"),
        ("1\t0\t3\tabc", "5 columns"),
        ("1\tx1\t3\tabc\tX\tD1", "not numbers"),
        ("1\t-1\t3\tabc\tX\tD1", "not numbers"),
        ("1\t3\t0\tzzz\tX\tD1", "no other position"),
        ("1\t0\t3\t\tX\tD1", "no other position"),
        ("some words", "is not a header"),
        ("1|a|a second abstract", "is not a header"),
    ],
)
def test_unusable_lines_are_set_aside_with_their_number(put: Put, line: str, says: str) -> None:
    (document,), reader = read(put(f"1|t|abc\n1|a|def\n{line}\n1\t0\t3\tabc\tX\tD1\n"))
    assert len(document.mentions) == 1
    assert report(reader) == [(3, "set aside")]
    assert says in reader.problems[0].text


def test_words_before_the_first_document_are_set_aside(put: Put) -> None:
    _, reader = read(put("hello\n1|t|abc\n1|a|def\n"))
    assert report(reader) == [(1, "set aside")]


def test_gzip_is_found_by_content(put: Put) -> None:
    path = put("1|t|abc\n1|a|def\n1\t0\t3\tabc\tX\tD1\n", "plain.txt", zipped=True)
    reader = PubTatorFormat().open(path)
    assert [d.text for d in reader] == ["abc\ndef"]
    assert reader.position[0] == reader.position[1] == path.stat().st_size


def test_a_second_pass_reports_the_same(put: Put) -> None:
    reader = PubTatorFormat().open(put("1|t|abc\n1|a|def\nx\n"))
    first = list(reader), list(reader.problems)
    assert (list(reader), list(reader.problems)) == first


def test_latin1_is_refused_with_its_line(put: Put) -> None:
    with pytest.raises(UserError, match=r"line 2: byte 6 is not UTF-8"):
        PubTatorFormat().open(put("1|t|abc\n1|a|dé\n".encode("latin-1")))


PUBTATOR3 = (
    "9|t|EGFR L858R in mice\n9|a|Gefitinib.\n"
    "9\t0\t4\tEGFR\tGene\t1956(Tax:9606);13649(Tax:10090)\n"
    "9\t5\t10\tL858R\tProteinMutation\ttmVar:p|SUB|L|858|R;HGVS:p.L858R;VariantGroup:0;CorrespondingGene:1956;"
    "RS#:121434568;CorrespondingSpecies:9606;CA#:126713\n"
    "9\t14\t18\tmice\tSpecies\t10090\n"
    "9\t19\t28\tGefitinib\tChemical\t-\t0.98\n"
    "9\tNegative_Correlation\tChemical|MESH:D000077156\tGene|1956\n"
    "9\tCPR:3\tMESH:D000077156\t1956\n\n"
)


def test_the_dialect_of_pubtator_3(put: Put) -> None:
    """A variant is not its gene; a gene's species is not its identifier; relations are of any name."""
    reader = PubTatorFormat().open(put(PUBTATOR3))
    (document,) = list(reader)
    assert [one.ids for one in document.mentions] == [
        ("1956", "13649"),
        ("p|SUB|L|858|R",),
        ("10090",),
        (),
    ]
    assert document.mentions[3].nil
    assert [one.text for one in reader.problems] == [
        "other information about variants is kept in the file and not read: HGVS (1), VariantGroup (1), "
        "CorrespondingGene (1), RS# (1), CorrespondingSpecies (1), CA# (1)"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In the model, Pr(>|t|) was 0.03.\nSecond line.\n",
        "Pr(>|t|) of Aspirin\n",
        '{"id": "1", "text": "Pr(>|t|) of Aspirin"}\n',
        "A solution for\nwhere |a|<1.\n",
        "The mean of |t| is\n7|t |a|\n",
    ],
)
def test_bars_in_a_text_make_no_pubtator(put: Put, text: str) -> None:
    assert not PubTatorFormat().sniff(put(text), text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "# made by hand\n12|t|Title\n12|a|Abstract\n",
        "Sample 1|t|Title\nSample 1|a|\n",
        "10.1016/S0140-6736(05)66741-5|t|Title\n",
    ],
)
def test_comments_and_names_are_no_hindrance(put: Put, text: str) -> None:
    assert PubTatorFormat().sniff(put(text), text.encode())
