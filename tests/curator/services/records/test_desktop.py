"""The desktop's files: complete, the same when written again, and gone when removed."""

from __future__ import annotations

import configparser
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from curator.domain.wording import UserError
from curator.services.records import installation as desktop


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(desktop.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "share"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_the_entry_opens_what_is_clicked(home: Path) -> None:
    desktop.add_to_desktop(["/opt/my curator/bin/curator"])
    entry = configparser.RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read_string((home / "applications/curator.desktop").read_text(encoding="utf-8"))
    found = dict(entry["Desktop Entry"])
    assert found["Exec"] == '"/opt/my curator/bin/curator" open %F'
    assert found["MimeType"] == f"{desktop.TYPE};"
    assert (home / "icons/hicolor/scalable/apps" / f"{found['Icon']}.svg").is_file()


def test_the_type_is_the_marker_files_alone(home: Path) -> None:
    desktop.add_to_desktop()
    root = ElementTree.fromstring((home / "mime/packages/curator.xml").read_bytes())
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    [kind] = root.findall(f"{space}mime-type")
    assert kind.get("type") == desktop.TYPE
    assert [one.get("pattern") for one in kind.findall(f"{space}glob")] == ["project.curator"]


def test_icons_need_no_palette(home: Path) -> None:
    desktop.add_to_desktop()
    assert "currentColor" not in (home / desktop.ICON).read_text(encoding="utf-8")


def test_again_changes_nothing_and_removing_leaves_nothing(home: Path) -> None:
    first = desktop.add_to_desktop()
    before = contents(home)
    assert desktop.add_to_desktop() == first
    assert contents(home) == before
    (home / "applications/other.desktop").write_text("mine", encoding="utf-8")
    assert sorted(desktop.remove_from_desktop()) == sorted(first)
    assert contents(home) == {"applications/other.desktop": b"mine"}
    assert desktop.remove_from_desktop() == []


@pytest.mark.parametrize(
    ("argument", "quoted"),
    [("/usr/bin/curator", "/usr/bin/curator"), ("a b", '"a b"'), ('a"$b%', '"a\\"\\$b%%"')],
)
def test_arguments_are_quoted_as_the_specification_says(argument: str, quoted: str) -> None:
    assert f"Exec={quoted} open %F" in desktop.entry_text([argument]).splitlines()


def test_elsewhere_there_are_no_desktop_entries(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UserError, match="Linux"):
        desktop.add_to_desktop()
    assert not home.exists()
