import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from models.errors import ModelError
from models.lexical import TfIdf

NAMES = [
    "breast neoplasm", "breast cancer", "ovarian cancer", "heart failure", "congestive heart failure", "a",
    "calcium chloride", "αβ naïve 😀 name", "рак молочной железы", "乳腺癌", "breast cancer", "2 4 d",
]  # fmt: skip
QUERIES = ["breast cancers", "heart", "chloride of calcium", "naïve", "a", "zzzz", ""]


@pytest.fixture(scope="module")
def brute_force() -> np.ndarray:
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True).fit(NAMES)
    return (vectorizer.transform(QUERIES) @ vectorizer.transform(NAMES).T).toarray()


def test_top_k_equals_brute_force_with_scikit_learn(brute_force: np.ndarray) -> None:
    tfidf = TfIdf.fit(NAMES)
    scores, rows = tfidf.search(tfidf.transform(QUERIES), 4)
    for query, expected in enumerate(brute_force):
        order = np.lexsort((np.arange(len(NAMES)), -expected.astype(np.float32).round(6)))[:4]
        hits = [row for row in order if expected[row] > 0]
        np.testing.assert_allclose(scores[query][: len(hits)], expected[hits], atol=1e-5)
        assert set(rows[query][: len(hits)]) == set(hits) or len(hits) == 4
        assert (rows[query][len(hits) :] == -1).all()


def test_scores_of_given_names_equal_brute_force(brute_force: np.ndarray) -> None:
    tfidf = TfIdf.fit(NAMES)
    rows = np.asarray([7, 0, 3])
    np.testing.assert_allclose(tfidf.score(tfidf.transform(QUERIES), rows), brute_force[:, rows], atol=1e-5)


def test_ties_go_to_the_lower_row() -> None:
    tfidf = TfIdf.fit(NAMES)
    _, rows = tfidf.search(tfidf.transform(["breast cancer"]), 2)
    assert rows.tolist() == [[1, 10]]


def test_ranges_restrict() -> None:
    tfidf = TfIdf.fit(NAMES)
    _, rows = tfidf.search(tfidf.transform(["breast cancer"]), 12, ranges=((2, 4), (6, 11)))
    assert rows[0][0] == 10
    assert set(rows[0]) <= {-1, 2, 3, 6, 7, 8, 9, 10}
    assert (tfidf.search(tfidf.transform(["breast"]), 3, ranges=())[1] == -1).all()


def test_word_tfidf_equals_scikit_learn() -> None:
    names = ["breast cancer", "ovarian cancer", "heart failure"]
    vectorizer = TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True).fit(names)
    expected = (vectorizer.transform(["cancer heart"]) @ vectorizer.transform(names).T).toarray()
    tfidf = TfIdf.fit(names, analyzer="word")
    np.testing.assert_allclose(tfidf.score(tfidf.transform(["cancer heart"]), np.arange(3)), expected, atol=1e-6)


def test_save_and_load_memory_mapped(tmp_path) -> None:
    tfidf = TfIdf.fit(NAMES)
    tfidf.save(tmp_path / "lexical")
    loaded = TfIdf.load(tmp_path / "lexical")
    for fresh, read in zip(
        tfidf.search(tfidf.transform(QUERIES), 5), loaded.search(loaded.transform(QUERIES), 5), strict=True
    ):
        np.testing.assert_array_equal(fresh, read)


def test_damage_is_told(tmp_path) -> None:
    TfIdf.fit(NAMES).save(tmp_path)
    whole = (tmp_path / "terms.npy").read_bytes()
    (tmp_path / "terms.npy").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="Rebuild"):
        TfIdf.load(tmp_path)
    (tmp_path / "terms.npy").write_bytes(whole)
    (tmp_path / "tfidf.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelError, match="another version"):
        TfIdf.load(tmp_path)
