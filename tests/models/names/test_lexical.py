import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from models.errors import ModelError
from models.names import lexical_index, lexical_kernel
from models.names.lexical import LexicalRetriever, TfIdf

NAMES = [
    "breast neoplasm", "breast cancer", "ovarian cancer", "heart failure", "congestive heart failure", "a",
    "calcium chloride", "αβ naïve 😀 name", "рак молочной железы", "乳腺癌", "breast cancer", "2 4 d", "",
    "cancer breast",
]  # fmt: skip
QUERIES = ["breast cancers", "heart", "chloride of calcium", "naïve", "a", "zzzz", "", "乳腺", "рак железы"]
TEXTS = st.text(alphabet="ab cдé乳 ", max_size=12)


def brute_force(names: list[str], queries: list[str], k: int) -> tuple[list[list[int]], list[list[float]]]:
    """scikit-learn's product in double precision, rounded to single, best first, ties by row."""
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, lowercase=False)
    matrix = vectorizer.fit_transform(names)
    product = (vectorizer.transform(queries) @ matrix.T).toarray().astype(np.float32)
    orders = [
        [int(row) for row in np.lexsort((np.arange(len(names)), -scores)) if scores[row] > 0] for scores in product
    ]
    return [order[:k] for order in orders], [
        [float(scores[row]) for row in order[:k]] for scores, order in zip(product, orders, strict=True)
    ]


def assert_found(found: tuple[np.ndarray, np.ndarray], rows: list[list[int]], scores: list[list[float]]) -> None:
    for query, expected in enumerate(rows):
        assert found[1][query][: len(expected)].tolist() == expected
        assert (found[1][query][len(expected) :] == -1).all()
        assert (found[0][query][len(expected) :] == 0).all()
        np.testing.assert_allclose(found[0][query][: len(expected)], scores[query], rtol=2e-7)


@pytest.mark.parametrize("k", [1, 4, 50])
def test_top_k_is_that_of_scikit_learn(k: int) -> None:
    tfidf = TfIdf.fit(NAMES)
    assert_found(tfidf.search(tfidf.transform(QUERIES), k), *brute_force(NAMES, QUERIES, k))


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=40), st.lists(TEXTS, min_size=1, max_size=5), st.integers(1, 9))
def test_top_k_is_that_of_scikit_learn_on_any_text(names: list[str], queries: list[str], k: int) -> None:
    names = [*names, "ab"]  # scikit-learn wants at least one term
    tfidf = TfIdf.fit(names)
    assert_found(tfidf.search(tfidf.transform(queries), k), *brute_force(names, queries, k))


def many_names(count: int = 4000) -> list[str]:
    """Made-up names of one to four words from few syllables: many near ties, permutations and duplicates."""
    random = np.random.default_rng(3)
    syllables = ["ka", "lo", "mi", "ren", "tu", "phos", "ate", "ine", "ol", "cy"]
    words = ["".join(random.choice(syllables, size=random.integers(1, 5))) for _ in range(300)]
    return [" ".join(random.choice(words, size=random.integers(1, 5))) for _ in range(count)]


def test_pruning_loses_nothing_among_thousands_of_names() -> None:
    names = many_names()
    queries = [*names[::100], "kalo", "ol", "i", "xyz", " ".join(names[:30])]
    tfidf = TfIdf.fit(names)
    for k in (5, 64):
        assert_found(tfidf.search(tfidf.transform(queries), k), *brute_force(names, queries, k))


def test_many_ranges_find_what_a_filter_over_all_names_finds() -> None:
    names = many_names(900)
    tfidf = TfIdf.fit(names)
    queries = tfidf.transform(names[::90])
    ranges = tuple((start, start + 17) for start in range(3, 880, 40))
    allowed = {row for start, stop in ranges for row in range(start, stop)}
    scores, rows = brute_force(names, names[::90], len(names))[::-1]
    kept = [
        [(row, s) for row, s in zip(r, v, strict=True) if row in allowed][:8] for r, v in zip(rows, scores, strict=True)
    ]
    expected = [[row for row, _ in one] for one in kept], [[score for _, score in one] for one in kept]
    assert_found(tfidf.search(queries, 8, ranges=ranges), *expected)


def test_no_range_finds_nothing() -> None:
    tfidf = TfIdf.fit(NAMES)
    assert (tfidf.search(tfidf.transform(["breast"]), 3, ranges=())[1] == -1).all()
    assert (tfidf.search(tfidf.transform(["breast"]), 3, ranges=((2, 2),))[1] == -1).all()
    assert tfidf.search(tfidf.transform([]), 3)[1].shape == (0, 3)


def test_threads_answer_as_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    names = many_names(500)
    tfidf = TfIdf.fit(names)
    queries = tfidf.transform(names[:100])
    found, pieces = [], []

    class Pool(ThreadPoolExecutor):
        def map(self, work, parts):
            pieces.append(len(parts))
            return super().map(work, parts)

    monkeypatch.setattr(lexical_index, "ThreadPoolExecutor", Pool)
    for threads in (1, 2):
        monkeypatch.setattr(lexical_index, "WORKERS", threads)
        found.append(tfidf.search(queries, 7))
    assert pieces == [4], "one thread needs no pool"
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_most_names_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pruning prunes: the plain Python of the kernel counts how many names it scores exactly."""
    if not hasattr(lexical_kernel.exact, "py_func"):
        pytest.skip("the kernel is not compiled")
    names = many_names(1500)
    tfidf = TfIdf.fit(names)
    scored: list[int] = []
    exact = lexical_kernel.exact.py_func
    for function in vars(lexical_kernel).copy().values():
        if hasattr(function, "py_func"):
            monkeypatch.setattr(lexical_kernel, function.py_func.__name__, function.py_func)
    monkeypatch.setattr(lexical_kernel, "exact", lambda name, *rest: scored.append(name) or exact(name, *rest))
    monkeypatch.setattr(lexical_kernel, "FIRST_READ", 5)
    found = tfidf.search(tfidf.transform([names[7]]), 5)
    assert found[1][0][0] == 7 or names[found[1][0][0]] == names[7]
    assert 5 <= len(scored) < 200
    assert len(set(scored)) == len(scored)


def test_scores_of_given_names() -> None:
    tfidf = TfIdf.fit(NAMES)
    rows = np.asarray([7, 0, 3, 12])
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, lowercase=False).fit(NAMES)
    expected = (vectorizer.transform(QUERIES) @ vectorizer.transform(NAMES).T).toarray()
    np.testing.assert_allclose(tfidf.score(tfidf.transform(QUERIES), rows), expected[:, rows], atol=1e-7)


def test_ties_go_to_the_lower_row() -> None:
    tfidf = TfIdf.fit(NAMES)
    _, rows = tfidf.search(tfidf.transform(["breast cancer"]), 3)
    assert rows.tolist() == [[1, 10, 13]]  # the same words in another order are the same n-grams


def test_word_tfidf_is_that_of_scikit_learn() -> None:
    names = ["breast-cancer 1", "Ovarian cancer", "heart_failure", "the of", "cancer cancer"]
    vectorizer = TfidfVectorizer(token_pattern=r"[^\W_]+", stop_words=["the", "of"], sublinear_tf=True).fit(names)
    queries = ["cancer of the heart", "CANCER, cancer", ""]
    expected = (vectorizer.transform(queries) @ vectorizer.transform(names).T).toarray()
    tfidf = TfIdf.fit(names, analyzer="word")
    np.testing.assert_allclose(tfidf.score(tfidf.transform(queries), np.arange(5)), expected, atol=1e-7)


def test_one_name_and_no_name() -> None:
    single = TfIdf.fit(["heart"])
    assert single.search(single.transform(["hearts"]), 3)[1].tolist() == [[0, -1, -1]]
    empty = TfIdf.fit([""])
    assert empty.shape == (1, 0)
    assert empty.search(empty.transform(["heart"]), 2)[1].tolist() == [[-1, -1]]
    assert empty.score(empty.transform(["heart"]), np.asarray([0])).tolist() == [[0.0]]


def test_long_texts_are_searched() -> None:
    tfidf = TfIdf.fit([*NAMES, "b" * 70_000])
    text = "breast cancer " * 400
    assert tfidf.search(tfidf.transform([text]), 1)[1].tolist() == [[1]]
    assert tfidf.search(tfidf.transform(["b" * 70_000]), 1)[1].tolist() == [[len(NAMES)]]


def test_counts_beyond_16_bits_stay_at_the_most() -> None:
    tfidf = TfIdf.fit(["b" * 70_000])
    assert tfidf.index.counts.max() == lexical_index.MOST


def test_save_and_load_memory_mapped(tmp_path: Path) -> None:
    tfidf = TfIdf.fit(NAMES)
    tfidf.save(tmp_path / "lexical")
    loaded = TfIdf.load(tmp_path / "lexical")
    assert isinstance(loaded.index.list_names.base, np.memmap)
    for fresh, read in zip(
        tfidf.search(tfidf.transform(QUERIES), 5), loaded.search(loaded.transform(QUERIES), 5), strict=True
    ):
        np.testing.assert_array_equal(fresh, read)


@pytest.mark.parametrize("name", ["vocabulary", "terms", "list_names", "norms"])
def test_a_cut_file_is_told(tmp_path: Path, name: str) -> None:
    TfIdf.fit(NAMES).save(tmp_path)
    file = tmp_path / f"{name}.npy"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ModelError, match=r"damaged.*Rebuild"):
        TfIdf.load(tmp_path)


@pytest.mark.parametrize("name", ["terms", "list_names", "classes", "starts", "list_starts"])
def test_a_number_outside_of_its_array_is_told(tmp_path: Path, name: str) -> None:
    """Compiled code would read anywhere."""
    TfIdf.fit(NAMES).save(tmp_path)
    array = np.load(tmp_path / f"{name}.npy")
    array[len(array) // 2] = min(10_000, np.iinfo(array.dtype).max)
    np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(ModelError, match="do not fit together"):
        TfIdf.load(tmp_path)


def test_an_array_of_another_kind_is_told(tmp_path: Path) -> None:
    TfIdf.fit(NAMES).save(tmp_path)
    np.save(tmp_path / "counts.npy", np.load(tmp_path / "counts.npy").astype(np.float64))
    with pytest.raises(ModelError, match=r"counts\.npy holds float64"):
        TfIdf.load(tmp_path)


def test_another_version_is_told(tmp_path: Path) -> None:
    TfIdf.fit(NAMES).save(tmp_path)
    (tmp_path / "tfidf.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelError, match="a different version"):
        TfIdf.load(tmp_path)


def test_retriever_normalises_and_takes_any_slice() -> None:
    retriever = LexicalRetriever(TfIdf.fit(NAMES))
    queries = retriever.encode(["Breast Cancers", "", "HEART-failure"])
    assert isinstance(queries, sparse.csr_matrix)
    _, rows = retriever.search(queries[[2, 0]], 1, ranges=((0, 5),))
    assert rows.tolist() == [[3], [1]]
    assert retriever.score(queries[[0]], np.asarray([1])).tolist() == [[pytest.approx(1.0)]]
