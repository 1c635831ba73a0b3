"""Lines, line ends, and what a stream refuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.wording import UserError
from curator.io.files import source
from curator.io.files.source import (
    Source,
    digest,
    is_zip,
    join_lines,
    line_end,
    open_files,
    plain_text,
    split_lines,
    without_line_end,
)

Put = Callable[..., Path]


@given(st.text(st.sampled_from("ab\n\r\u2028\u0085\x0b")))
def test_lines_add_up(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all("\n" not in line[:-1] for line in lines)


def test_line_ends() -> None:
    assert [without_line_end(t) for t in ("a", "a\n", "a\r\n", "a\r", "a\r\r\n", "\n")] == [
        "a",
        "a",
        "a",
        "a",
        "a\r",
        "",
    ]
    assert (line_end("a\r\nb\n"), line_end("a\nb\r\n"), line_end("")) == ("\r\n", "\n", "\n")
    assert join_lines(["a\n", "b"], "\r\n", final=True) == "a\nb\r\n"
    assert join_lines(["a\n", "b\r\n"], "\r\n", final=False) == "a\nb"
    assert join_lines([], "\n", final=True) == ""


def test_lone_surrogates_only_are_replaced() -> None:
    assert plain_text("a\U0001f600\ud83d") == "a\U0001f600\ufffd"


def test_the_first_line_is_read_whole(put: Put) -> None:
    text = "x" * (source.HEAD_BYTES * 3) + "\nrest\n"
    assert Source(put(text)).head() == text.encode()[: source.HEAD_BYTES * 3 + 1]


def test_endless_lines_are_refused(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LINE_BYTES", 100)
    with pytest.raises(UserError, match="line 2: longer"):
        list(Source(put("a\n" + "x" * 200)).lines())


def test_position_moves_to_the_end(put: Put) -> None:
    found = Source(put("line\n" * 50_000))
    lines = found.lines()
    next(lines)
    done, total = found.position
    assert 0 < done < total == 250_000
    list(lines)
    assert found.position == (250_000, 250_000)


@pytest.mark.skipif(sys.platform == "win32", reason="makes a pipe as POSIX systems do")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    for read in (digest, is_zip, lambda path: Source(path).head(), lambda path: open_files(path).open("a.txt")):
        with pytest.raises(UserError, match="a device, a pipe or a socket"):
            read(tmp_path / "a.txt")
