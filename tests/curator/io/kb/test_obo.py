"""OBO: scopes, escapes, modifiers, obsolete terms, foreign prefixes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import UserError
from curator.io.kb.obo import OboReader

Put = Callable[..., Path]

HEADER = "format-version: 1.2\ndefault-namespace: things\n\n"


def read(put: Put, text: str) -> tuple[dict[str, Entity], OboReader]:
    reader = OboReader.open(put(HEADER + text))
    return {e.id: e for e in reader}, reader


def term(number: int, *lines: str, name: str = "thing") -> str:
    return "\n".join(["[Term]", f"id: X:{number}", f"name: {name} {number}", *lines, "", ""])


def test_a_term(put: Put) -> None:
    lines = (
        'def: "A \\"quoted\\" thing\\, with\\nbreak." [url:http\\://x.org/a\\,b, JA:Epilepsy Genetics Kiel] {a="b"}',
        'synonym: "one" EXACT []',
        'synonym: "two" BROAD abbreviation [X:1 "why"]',
        'synonym: "three \\: 3" RELATED [] {source="here"}',
        'exact_synonym: "four" []',
        "alt_id: X:100",
        'is_a: X:2 {source="there"} ! the parent',
        "xref: MESH:D1",
    )
    entities, reader = read(put, term(1, *lines))
    assert entities["X:1"] == Entity(
        "X:1",
        "thing 1",
        ("one", "two", "three : 3", "four"),
        ("things",),
        'A "quoted" thing, with break.',
        ("X:100",),
        (),
        ("X:2",),
    )
    assert reader.problems == []


def test_names_keep_braces_and_marks_that_are_no_modifiers(put: Put) -> None:
    entities, _ = read(put, '[Term]\nid: X:1 ! comment\nname: a {b} 3\\!4 {c="d, e"} ! f\nnamespace: other\n')
    assert (entities["X:1"].name, entities["X:1"].types) == ("a {b} 3!4", ("other",))


def test_obsolete_terms_lead_to_what_replaced_them(put: Put) -> None:
    obsolete = "is_obsolete: true"
    text = (
        term(1)
        + term(2, obsolete, "replaced_by: X:3")
        + term(3, obsolete, "replaced_by: X:1")
        + term(4, obsolete, "consider: X:1")
        + term(5, obsolete, "replaced_by: X:1", "replaced_by: X:6")
        + term(6)
        + term(7, obsolete, "replaced_by: X:8")
        + term(8, obsolete, "replaced_by: X:7")
    )
    entities, reader = read(put, text)
    assert list(entities) == ["X:1", "X:6"]
    assert sorted(entities["X:1"].alt_ids) == ["X:2", "X:3"]
    assert entities["X:6"].alt_ids == ()
    assert [(p.line, p.severity) for p in reader.problems] == [(26, "note"), (0, "note")]
    assert "6 obsolete" in reader.problems[-1].text


AFTER = [
    "!root",
    " !root",
    "! root",
    " ! root",
    "!",
    ' {a="b ! c"}',
    '{a="b"}!root',
    ' {a="b", c="d"} ! root',
    "\t!root",
]


@pytest.mark.parametrize("after", AFTER)
def test_what_follows_an_identifier_is_a_comment_or_modifiers(put: Put, after: str) -> None:
    obsolete = f"is_obsolete: true{after}"
    text = (
        f"[Term]\nid: X:1{after}\nname: one! two\nnamespace: other{after}\nalt_id: X:9{after}\nis_a: X:5{after}\n\n"
        + term(2, obsolete, f"replaced_by: X:1{after}")
        + term(3, obsolete, f"consider: X:1{after}")
    )
    entities, reader = read(put, text)
    one = Entity("X:1", "one! two", types=("other",), alt_ids=("X:9", "X:2"), parents=("X:5",))
    assert entities == {"X:1": one}
    assert [(old.id, old.replaced_by, old.consider) for old in reader.obsolete] == [
        ("X:2", ("X:1",), ()),
        ("X:3", (), ("X:1",)),
    ]


def test_an_escaped_mark_belongs_to_an_identifier(put: Put) -> None:
    entities, _ = read(put, term(1, "is_a: X:a\\!b !root"))
    assert entities["X:1"].parents == ("X:a!b",)


def test_foreign_terms_are_read_and_noted_once(put: Put) -> None:
    text = term(1) + term(2) + "[Term]\nid: Y:1\nname: y\n\n[Term]\nid: Y:2\nname: z\n\n[Typedef]\nid: r\nname: r\n"
    entities, reader = read(put, text)
    assert list(entities) == ["X:1", "X:2", "Y:1", "Y:2"]
    assert [p.severity for p in reader.problems] == ["note"]


def test_malformed_parts_are_set_aside_with_their_line(put: Put) -> None:
    text = term(1, "synonym: bare EXACT []", "no tag", "def: bare") + "[Term]\nid: X:2\n\n" + term(1)
    entities, reader = read(put, text)
    assert list(entities) == ["X:1"]
    assert entities["X:1"].synonyms == ()
    assert sorted((p.line, p.severity) for p in reader.problems) == [(n, "set aside") for n in (7, 8, 9, 11, 14)]


def test_each_malformed_line_is_reported_once_with_its_own_text(put: Put) -> None:
    _, reader = read(put, term(1, "first", "second") + term(2, "third"))
    assert [(one.line, one.text.rpartition(" ")[2]) for one in reader.problems] == [
        (7, "first"),
        (8, "second"),
        (13, "third"),
    ]


@pytest.mark.parametrize("heading", ["[Term]", "[Term] ! two", "[Term]!two", "[term]", "[ Term ]"])
def test_a_heading_begins_a_term(put: Put, heading: str) -> None:
    entities, reader = read(put, f"{term(1)}{heading}\nid: X:2\nname: two\nis_a: X:1\n")
    assert entities["X:2"] == Entity("X:2", "two", types=("things",), parents=("X:1",))
    assert not entities["X:1"].parents
    assert not reader.problems


@pytest.mark.parametrize("heading", ["[Term", "[", "[Term] two", "[Te rm]"])
def test_what_follows_a_broken_heading_is_of_no_other_term(put: Put, heading: str) -> None:
    entities, reader = read(put, f"{term(1)}{heading}\nid: X:2\nname: two\nis_a: X:1\n\n{term(3)}")
    assert list(entities) == ["X:1", "X:3"]
    assert not entities["X:1"].parents
    assert [(one.line, one.severity) for one in reader.problems] == [(8, "set aside")]


def test_what_a_term_has_once_is_reported_when_it_comes_again(put: Put) -> None:
    entities, reader = read(put, term(1) + 'id: X:2\nname: two\ndef: "b" []\n')
    assert entities == {"X:1": Entity("X:1", "thing 1", types=("things",), definition="b")}
    assert [(one.line, one.severity) for one in reader.problems] == [(8, "set aside"), (9, "set aside")]


def test_no_term_is_an_error(put: Put) -> None:
    with pytest.raises(UserError, match="no usable entity"):
        read(put, "[Typedef]\nid: part_of\n")
    with pytest.raises(UserError, match="is not an OBO"):
        OboReader.open(put("hello"))
