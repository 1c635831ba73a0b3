from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from models.encoders.cache import ahead


def test_results_come_in_the_order_of_the_pieces() -> None:
    first_is_done = threading.Event()

    def work(piece: int) -> int:
        if piece == 0:
            assert first_is_done.wait(20), "the second runs beside the first"
        first_is_done.set()
        return piece * piece

    assert list(ahead(work, range(7), workers=2)) == [piece * piece for piece in range(7)]


def test_no_more_pieces_are_taken_than_can_be_under_way() -> None:
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for piece in range(9):
            assert threading.current_thread() is threading.main_thread()
            taken.append(piece)
            yield piece

    results = ahead(lambda piece: piece, pieces(), workers=2)
    assert next(results) == 0
    assert taken == [0, 1, 2]
    results.close()  # type: ignore[attr-defined]
    assert taken == [0, 1, 2]


def test_an_error_comes_in_its_turn() -> None:
    results = ahead(lambda piece: 6 // piece, [3, 2, 0, 1], workers=3)
    assert [next(results), next(results)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_nothing_of_nothing() -> None:
    assert list(ahead(str, [])) == []
