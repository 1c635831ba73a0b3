import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import ModelError
from models.names.bm25 import Bm25
from models.names.lexical import LexicalRetriever, TfIdf

WORDS = ["heart", "failure", "acute", "renal", "kidney", "рак"]
TEXTS = st.lists(st.sampled_from([*WORDS, "of"]), max_size=6).map(" ".join)


def plain_bm25(names: list[str], query: str, k1: float, b: float) -> list[float]:
    """The formula, word by word."""
    documents = [[word for word in name.split() if word != "of"] for name in names]
    mean = max(1.0, sum(map(len, documents)) / len(documents))
    scores = []
    for document in documents:
        total = 0.0
        for word in (word for word in query.split() if word != "of"):
            df = sum(word in other for other in documents)
            count = document.count(word)
            if count:
                idf = math.log(1 + (len(names) - df + 0.5) / (df + 0.5))
                total += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * len(document) / mean))
        scores.append(total)
    return scores


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=30), TEXTS, st.integers(1, 6), st.sampled_from([(1.5, 0.75), (0.9, 0.4)]))
def test_search_is_the_formula(names: list[str], query: str, k: int, parameters: tuple[float, float]) -> None:
    k1, b = parameters
    expected = np.asarray(plain_bm25(names, query, k1, b), dtype=np.float32)
    order = [row for row in np.lexsort((np.arange(len(names)), -expected)) if expected[row] > 0][:k]
    model = Bm25.fit(names, k1=k1, b=b)
    scores, rows = model.search(model.transform([query]), k)
    np.testing.assert_allclose(scores[0][: len(order)], expected[order], rtol=1e-6)
    assert (rows[0][len(order) :] == -1).all()
    np.testing.assert_allclose(expected[rows[0][: len(order)]], expected[order], rtol=1e-6)
    np.testing.assert_allclose(model.score(model.transform([query]), np.arange(len(names)))[0], expected, rtol=1e-6)


def test_it_is_a_retriever_over_names_as_tfidf_is() -> None:
    retriever = LexicalRetriever(Bm25.fit(["heart failure", "renal failure", "acute renal failure", "failure"]))
    queries = retriever.encode(["Renal failures", ""])
    scores, rows = retriever.search(queries, 3, ranges=((0, 1), (2, 4)))
    assert rows.tolist() == [[2, 3, 0], [-1, -1, -1]]
    np.testing.assert_array_equal(retriever.score(queries, np.asarray([2, 3]))[0], scores[0][:2])


def test_save_and_load(tmp_path: Path) -> None:
    model = Bm25.fit(["heart failure", "renal failure", "kidney"])
    model.save(tmp_path)
    loaded = Bm25.load(tmp_path)
    queries = ["failure of the kidney"]
    for fresh, read in zip(
        model.search(model.transform(queries), 3), loaded.search(loaded.transform(queries), 3), strict=True
    ):
        np.testing.assert_array_equal(fresh, read)
    with pytest.raises(ModelError, match="a different version"):
        TfIdf.load(tmp_path)
