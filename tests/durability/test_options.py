"""What is attacked is what was asked for."""

from __future__ import annotations

import sys

import pytest

from tests.durability.__main__ import main


def test_a_scenario_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["durability", "--only", "decide", "decode"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "no scenario is called decode" in capsys.readouterr().err
