"""The settings: one schema, validated values, unknown keys kept, a file written whole."""

from __future__ import annotations

import ast
import json
import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.settings import schema
from curator.settings.file import load, save
from curator.settings.schema import (
    DeviceChoice,
    IndexChoice,
    NumberFormat,
    OptionKind,
    Settings,
    ThemeChoice,
    checked,
    default,
    options,
    with_value,
)
from tests.failing_reads import fail_reads

ROOT = Path(__file__).resolve().parents[3]


def test_each_field_is_described_and_its_default_allowed() -> None:
    assert [one.name for one in options()] == [one.name for one in fields(Settings)]
    for option in options():
        assert option.title
        assert option.help.endswith(".")
        assert checked(option, default(option.name)) == default(option.name)
        assert (option.kind is OptionKind.CHOICE) == bool(option.choices)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("font_size", 7, "from 8 to 32"),
        ("font_size", "12", "whole number"),
        ("font_size", True, "whole number"),
        ("theme", "pink", "system, light, dark"),
        ("curator_name", 3, "must be a text"),
        ("entity_pages", 3, "must be a text"),
        ("entity_pages", {"MESH": 3}, "must be a text"),
        ("entity_pages", {"MESH": "https://a/"}, "has no {id}"),
        ("curator_name", "\ud800", "invalid characters"),
        ("backup_folder", "a\x00b", "control characters"),
        ("entity_pages", {"MESH": "https://a/\x1b{id}"}, "control characters"),
        ("shortcuts", {"undo": ["\udcff"]}, "invalid characters"),
        ("colour", "red", "no setting 'colour'"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(name: str, value: object, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        with_value(Settings(), name, value)


def test_choices_become_enums() -> None:
    assert with_value(Settings(), "device", "cuda").device is DeviceChoice.CUDA
    assert with_value(Settings(), "index_kind", "pq4").index_kind is IndexChoice.PQ4
    assert with_value(Settings(), "number_format", "bf16").number_format is NumberFormat.BF16
    assert with_value(Settings(), "theme", "dark").theme is ThemeChoice.DARK


def test_what_was_saved_is_loaded_with_unknown_keys(tmp_path: Path) -> None:
    settings = Settings(curator_name="Ada", theme=ThemeChoice.DARK, font_size=16)
    unknown = {"later": 1, "half \ud800": "\udcff"}
    path = save(settings, unknown=unknown, folder=tmp_path / "new")
    loaded = load(tmp_path / "new")
    assert loaded.settings == settings
    assert loaded.unknown == unknown
    assert "later" in loaded.problems[0]
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_a_missing_file_means_defaults(tmp_path: Path) -> None:
    assert load(tmp_path).settings == Settings()
    assert load(tmp_path).problems == ()


@pytest.mark.parametrize("text", ["{", "[1]", "\x00"])
def test_a_broken_file_means_defaults_and_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text, encoding="utf-8")
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    assert "settings.json" in loaded.problems[0]


@pytest.mark.parametrize("kind", ["pipe", "large", "folder"])
def test_a_file_that_is_not_of_curator_is_not_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text(json.dumps({"curator_name": "a" * 2**20}), encoding="utf-8")
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    assert loaded.problems[0].startswith(f"The settings in {path} could not be read (")


def test_a_read_that_fails_once_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(Settings(curator_name="Ada"), folder=tmp_path)
    failed = fail_reads(monkeypatch, path.name)
    loaded = load(tmp_path)
    assert failed() == 1
    assert (loaded.settings.curator_name, loaded.problems, loaded.unread) == ("Ada", (), False)


def test_a_file_that_the_disk_does_not_give_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(Settings(curator_name="Ada"), folder=tmp_path)
    fail_reads(monkeypatch, path.name, times=2)
    loaded = load(tmp_path)
    assert (loaded.settings, loaded.unread) == (Settings(), True)
    assert "could not be read" in loaded.problems[0]
    assert load(tmp_path).settings.curator_name == "Ada"


def test_a_wrong_value_falls_back_alone(tmp_path: Path) -> None:
    raw = {"font_size": 99, "candidates_shown": 5}
    (tmp_path / "settings.json").write_text(json.dumps(raw), encoding="utf-8")
    loaded = load(tmp_path)
    assert (loaded.settings.font_size, loaded.settings.candidates_shown) == (12, 5)
    assert "Font size" in loaded.problems[0]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="could not be saved"):
        save(Settings(), folder=tmp_path / "file")


def test_suggestions_are_held_back_only_where_somebody_chose_so(tmp_path):
    """Files of earlier versions hold every default of theirs."""
    assert Settings().holdout_percent == 0
    path = tmp_path / "settings.json"
    for stored, serves in ((2, 0), (5, 5)):
        path.write_text(json.dumps({"holdout_percent": stored}))
        loaded = load(tmp_path)
        assert (loaded.settings.holdout_percent, loaded.problems) == (serves, ())
    save(replace(Settings(), holdout_percent=2), folder=tmp_path)
    loaded = load(tmp_path)
    assert (loaded.settings.holdout_percent, loaded.unknown, loaded.problems) == (2, {}, ())


def test_each_setting_is_read_somewhere() -> None:
    sources = [path for path in (ROOT / "curator").rglob("*.py") if path != Path(schema.__file__)]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    trees = [ast.parse(text) for text in texts if "settings" in text.lower()]
    read = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {one.name for one in fields(Settings)} - read == set()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which folders were synced")
def test_the_name_of_saved_settings_is_put_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[Path, bool]] = []
    fsync = os.fsync

    def noted(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").resolve(), (tmp_path / "settings.json").exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    save(Settings(), folder=tmp_path)
    assert synced[-1] == (tmp_path, True)
