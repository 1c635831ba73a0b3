"""The window as a screen reader on Linux finds it, over the bus: names, the document's words and its marked ranges.

Needs what desktops have for that: AT-SPI's bus, D-Bus, the system's Python with AT-SPI, and an X server without a
screen (Debian: at-spi2-core, dbus, python3-gi, gir1.2-atspi-2.0, xvfb).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "atspi"
ROOT = Path(__file__).resolve().parents[3]
SYSTEM = Path("/usr/bin/python3")
LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
SILENT = {
    *("filler", "separator", "scroll bar", "layered pane", "split pane", "panel", "unknown", "menu bar", "label"),
    *("table cell", "table column header", "table row header", "list item", "tree item", "menu item", "menu", "image"),
}
"""Roles of what only groups, and of rows and labels, which may be empty."""

Found = dict[str, Any]

pytestmark = pytest.mark.soak  # a window of its own, read from outside by another program


def missing() -> str:
    """What this computer lacks, '' for nothing."""
    for program in ("Xvfb", "dbus-run-session"):
        if shutil.which(program) is None:
            return program
    if not any(Path(one).exists() for one in LAUNCHERS):
        return "at-spi-bus-launcher (at-spi2-core)"
    asks = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    if not SYSTEM.exists() or subprocess.run([SYSTEM, "-c", asks], capture_output=True, check=False).returncode:
        return "AT-SPI for the system's Python (python3-gi, gir1.2-atspi-2.0)"
    return ""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> list[Found]:
    lacking = missing()
    if lacking:
        pytest.skip(f"a screen reader's view needs {lacking}, which is not installed")
    folder = tmp_path_factory.mktemp("spoken")
    names = ("CURATOR_CONFIG_DIR", "CURATOR_LOG_DIR", "CURATOR_CACHE")
    env = {
        name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "DISPLAY", "PYTHONPATH")
    }
    env |= {name: str(folder / name.casefold()) for name in names}
    program = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.curator.ui.atspi.program", str(folder)]
    command = ["dbus-run-session", "--", str(SYSTEM), str(HERE / "probe.py"), *program]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, timeout=300, check=False)
    assert done.stdout, done.stderr.decode()
    found: list[Found] = json.loads(done.stdout)
    return found


def named(tree: list[Found], name: str, role: str) -> Found:
    [found] = [one for one in tree if (one["name"], one["role"]) == (name, role)]
    return found


def test_the_document_is_read_word_by_word(tree: list[Found]) -> None:
    document = named(tree, "Document text", "text")
    assert document["read only"]
    assert document["text"].startswith("Lidocaine and cardiac arrest\nLidocaine slowed an arrhythmia")
    words = list(dict.fromkeys(one.strip() for one in document["words"]))
    assert words[:4] == ["Lidocaine", "and", "cardiac", "arrest"]


def test_mentions_are_marked_ranges(tree: list[Found]) -> None:
    runs = named(tree, "Document text", "text")["runs"]
    marks = {words: attributes["bg-color"] for words, attributes in runs if "underline" in attributes}
    assert set(marks) >= {"Lidocaine", "cardiac arrest"}
    assert marks["Lidocaine"] != marks["cardiac arrest"], "one is linked, the other undecided"
    assert all("bg-color" not in attributes for words, attributes in runs if words.strip() in ("and", "slowed an"))


def test_a_mention_says_what_it_is_linked_to_when_the_caret_comes_to_it(tree: list[Found]) -> None:
    document = named(tree, "Document text", "text")
    said = dict(document["said"])
    assert said[0] == "Lidocaine, Chemical, linked to Lidocaine (MESH:D008012)"
    assert said[document["text"].index("and")] == "Lidocaine and cardiac arrest: 4 mentions"
    assert said[document["text"].index("cardiac")].startswith("cardiac arrest, SpecificDisease, undecided, ")


def test_combo_boxes_are_called_what_they_choose(tree: list[Found]) -> None:
    boxes = {(one["name"], one.get("text")) for one in tree if one["role"] == "combo box" and one["showing"]}
    assert boxes >= {
        ("Order of the queue", "by document"),
        ("Language", "as the desktop"),
        ("Curator", "Everybody"),
    }


def test_everything_on_show_that_can_be_used_has_a_name(tree: list[Found]) -> None:
    nameless = [one["role"] for one in tree if one["showing"] and not one["name"] and one["role"] not in SILENT]
    assert nameless == []
    assert len(tree) > 200
