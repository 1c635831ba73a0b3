import numpy as np
import pytest

from models.errors import ModelError
from models.names.bm25 import Bm25
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import LexicalList, WordRetriever, interleave, parse_list

NAMES = ["renal insufficiency", "renal failure", "failures", "kidney diseases", "renl failre", "disease of kidney"]


def retriever() -> WordRetriever:
    chars, words = (LexicalRetriever(TfIdf.fit(NAMES, analyzer=kind)) for kind in ("char", "word"))
    return WordRetriever(chars, words, len(NAMES))


def test_ranks_are_interleaved_and_duplicates_removed() -> None:
    first = np.asarray([[5, 3, 1, 0], [7, -1, -1, -1], [-1, -1, -1, -1]])
    second = np.asarray([[3, 9, 5, 2], [7, 8, -1, -1], [-1, -1, -1, -1]])
    assert interleave(first, second).tolist() == [[5, 3, 9, 1], [7, 8, -1, -1], [-1, -1, -1, -1]]


def test_what_only_one_list_finds_is_found() -> None:
    merged = retriever()
    queries = merged.encode(["renal failure", "zzz"])
    _, by_words = merged.words.search(queries.words, 6, ranges=((0, 6),))
    scores, rows = merged.search(queries, 6, ranges=((0, 6),))
    assert 4 not in by_words  # misspelt: the characters find it
    assert 4 in rows[0]
    assert rows[0][0] == 1
    assert (np.diff(scores[0][rows[0] >= 0]) < 0).all()
    assert rows[1].tolist() == [-1] * 6
    assert scores[1].tolist() == [0.0] * 6


def test_ranges_and_slices_as_any_stage() -> None:
    merged = retriever()
    queries = merged.encode(["kidney disease", "renal failure"])[[1]]
    assert queries.shape == (1,)
    _, rows = merged.search(queries, 3, ranges=((0, 1), (2, 4)))
    assert set(rows[0].tolist()) <= {0, 2, 3, -1}
    np.testing.assert_array_equal(
        merged.score(queries, np.asarray([1, 4])), merged.chars.score(queries.chars, np.asarray([1, 4]))
    )


def test_bm25_alone_finds_by_words_and_scores_by_characters() -> None:
    chars, words = LexicalRetriever(TfIdf.fit(NAMES)), LexicalRetriever(Bm25.fit(NAMES))
    found = WordRetriever(chars, words, len(NAMES), merged=False)
    queries = found.encode(["renal failure"])
    _, rows = found.search(queries, 6, ranges=((0, 6),))
    assert rows.tolist() == words.search(queries.words, 6, ranges=((0, 6),))[1].tolist()
    assert 4 not in rows
    np.testing.assert_array_equal(found.score(queries, rows[0][:1]), chars.score(queries.chars, rows[0][:1]))


def test_a_list_that_there_is_not_is_refused() -> None:
    assert parse_list("") is LexicalList.CHARACTERS
    assert parse_list("bm25") is LexicalList.BM25
    with pytest.raises(ModelError, match="characters, merged, bm25"):
        parse_list("bigrams")
