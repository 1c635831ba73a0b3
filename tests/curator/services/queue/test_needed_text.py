"""What must occur for a match: found in words and patterns, and never so that a search misses anything."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import regex

from curator.domain.documents import SourceDocument, Split
from curator.domain.wording import UserError
from curator.services.queue.corpus_search import (
    ODD,
    CorpusQuery,
    needed_by_pattern,
    needed_by_words,
    pattern_of,
    without_blanks,
)
from tests.curator.services.fakes import World, make_world

LETTERS = [*"aabBeEkKsSiIoO  \n-%_\\.0ßẞſ\u212aİıσςΣµμéÉ", "e\u0301", "i\u0307", "ab", "aB-", "\ufb01"]
PIECES = (r"\w", r"\s*", ".", r"\b", "[aAσ]", "[^b]", "(?:a|bb)", "(?:abe)?", "(abk)+", "a{2}", "b*", "(?=s)", "(?<!o)")
PIECES += (r"\p{Greek}", "(?i:b)", "(?:aes){e<=1}", "[[:alpha:]]", "|", "()", r"\%", r"\.", "e+", "(?:ab(?:-)?)")


def said(needed: tuple[str | None, ...] | None) -> str | None:
    return None if needed is None else "".join(one or "_" for one in needed)


def test_case_makes_three_letters_match_beyond_ascii() -> None:
    beyond = "".join(chr(one) for one in range(0x80, 0x110000) if not 0xD800 <= one < 0xE000)
    found = set(regex.findall("[ -~]", beyond, regex.IGNORECASE))
    assert found == {"İ", "ı", "ſ", "\u212a"}
    assert {one for one in map(chr, range(0x80)) if regex.search(regex.escape(one), "".join(found), regex.I)} == ODD


def test_the_word_that_tells_most_is_needed() -> None:
    assert said(needed_by_words("zebrafish swim bladder", case=False)) == "zebraf__h"
    assert said(needed_by_words("zebrafish swim bladder", case=True)) == "zebrafish"
    assert said(needed_by_words("β-blocker", case=False)) == "-bloc_er"
    assert needed_by_words("kiss", case=False) is needed_by_words("ß of", case=False) is None


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\b\w+itis\b", "itis"),
        (r"abc(def|ghijklmno)?jklm+nop", "jklm"),
        ("(abc(?:def)+)gh*", "abc"),
        ("(?P<name>abcde){1,2}fg", "abcde"),
        (r"[]a]bcd\.ef", "bcd.ef"),
        ("(?!abcdef)xyz", "xyz"),
        ("(abcdef){0,2}xyz?", None),
        ("abcdef|xyz", None),
        ("(?i)abcdef", None),
        ("(?:abcdef){e<=1}", None),
        ("[[:alpha:]]abcdef", None),
        (r"abcdef\x41", None),
    ],
)
def test_characters_of_a_pattern_that_every_match_contains(pattern: str, needed: str | None) -> None:
    assert said(needed_by_pattern(pattern, case=True)) == needed


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path, documents=1)
    yield made
    made.project.close()


def test_a_search_finds_what_reading_every_text_finds(world: World) -> None:
    chance = random.Random(4)
    texts = ["".join(chance.choices(LETTERS, k=chance.randrange(5, 60))) for _ in range(40)]
    texts[::11] = [f"{one[:9]}\0{one[9:]}" for one in texts[::11]]  # where SQLite's strings end
    with world.store.write() as unit:
        documents = [SourceDocument(str(at), "", one, (), ()) for at, one in enumerate(texts)]
        unit.documents.add_documents(unit.files.all()[0].id, documents, split=Split.TRAIN)
        stored = {one: unit.documents.get(one).text for one in unit.documents.ids()}
    searched = 0
    for query in queries(chance, texts, 80):
        try:
            expected = read_through(stored, query)
        except UserError:
            continue  # it does not compile
        found = list(world.project.corpus.search(query, most=None))
        assert [hit.place for part in found for hit in part.hits] == expected, query
        assert found[-1].searched == found[-1].total == 41
        searched += needed_by_pattern(query.text, case=query.case) is not None
    assert searched > 10


def queries(chance: random.Random, texts: list[str], number: int) -> Iterator[CorpusQuery]:
    """Parts of the texts in other cases, alone or in patterns."""
    for _ in range(number):
        text = chance.choice(texts)
        at = chance.randrange(len(text))
        part = text[at : at + chance.randrange(1, 8)].replace("\0", "")
        words = "".join(chance.choice((one, one.upper()[0], one.lower()[0])) for one in part)
        pattern = chance.random() < 0.6
        if pattern:
            cut = chance.randrange(len(words) + 1)
            first, last = regex.escape(words[:cut]), regex.escape(words[cut:])
            words = chance.choice(PIECES) + first + chance.choice(("", *PIECES)) + last + chance.choice(("", *PIECES))
        case, whole = chance.random() < 0.4, chance.random() < 0.2
        yield CorpusQuery(words, pattern=pattern, case=case, words=whole)


def read_through(texts: Mapping[int, str], query: CorpusQuery) -> list[tuple[int, int, int]]:
    pattern = pattern_of(query.text, pattern=query.pattern, case=query.case, words=query.words)
    spans = ((one, start, end) for one, text in texts.items() for start, end in pattern.spans(text) if start < end)
    return [(one, *without_blanks(texts[one], start, end)) for one, start, end in spans]
