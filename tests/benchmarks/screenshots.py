"""Ten states of the window in light and dark, for the README and for a person's eyes; with `--places` many more.

    curator demo demo-out                          # makes the project
    curator link demo-out/pubmed.curation          # suggestions for all mentions
    python -m tests.benchmarks.screenshots demo-out/pubmed.curation --out shots
    python -m tests.benchmarks.screenshots demo-out/pubmed.curation --out shots --places \
        --size 1024x700 1440x900 2560x1440 --scale 100 200 --folders

The real window over a copy of the demo project, driven by keys; the whole screen is taken, so that dialogs are seen
where they stand. Needs Xvfb (or a display of the only size asked for). `--folders` makes one for each size and scale.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from curator.domain.jobs import LinkerState
from curator.services.queue.queue import MentionView
from curator.settings.file import save
from curator.settings.schema import Language, Settings, ThemeChoice
from tests.benchmarks import screenshot_places
from tests.benchmarks.real_window import Desk, desk, display

Key = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
REST = 0.6
SIZES = ("1024x700", "1440x900", "2560x1440")
LINKED = 120.0
"""Seconds in which the linker must have answered for the open document."""
AMBIGUOUS, REPEATED, MISSING = "hair loss", "colchicine", "febuxostat"


class Session:
    """The states one after another, each as a curator would come to it."""

    def __init__(self, hand: Desk, out: Path, theme: str, folder: Path) -> None:
        self.hand, self.out, self.theme, self.folder = hand, out, theme, folder
        self.number = 0

    def shot(self, name: str, *, after: float = REST) -> None:
        self.hand.rest(after)
        self.number += 1
        target = self.out / f"{self.number:02}-{name}-{self.theme}.png"
        screen = self.hand.app.primaryScreen()
        whole = screen.grabWindow(0)
        whole.save(str(target))
        print(target)

    def command(self, name: str) -> None:
        self.hand.window.menus.action(name).trigger()
        self.hand.rest(0.2)

    def press(self, *keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        for key in keys:
            self.hand.press(key, modifier)
            self.hand.rest(0.2)

    def type(self, words: str) -> None:
        for character in words:
            self.hand.type(character)
        self.hand.rest(0.2)

    def go_to(self, words: str) -> None:
        """The first undecided mention of these words in the open document."""
        self.select(lambda one: one.mention.text == words and one.decision is None)

    def select(self, fits: Callable[[MentionView], bool]) -> None:
        """The first mention of the open document that fits."""
        navigator = self.hand.bench.navigator
        assert navigator.opened is not None
        navigator.select(next(one for one in navigator.opened.mentions if fits(one)).mention.id)
        self.hand.rest(0.3)

    def leave(self) -> None:
        """Close what covers the window."""
        for one in QApplication.topLevelWidgets():
            if one is not self.hand.window and one.isVisible():
                one.close()
        self.hand.press(Key.Key_Escape)
        self.hand.rest(0.3)

    def all(self) -> None:
        self.hand.until(self._ready, LINKED)
        self.go_to(MISSING)
        self.press(Key.Key_N, Key.Key_Return)
        self.go_to(AMBIGUOUS)
        self.shot("deciding")
        self.press(Key.Key_V)
        self.press(Key.Key_V, modifier=SHIFT)
        self.hand.until(lambda: self.hand.bench.candidates.contrast.contrast is not None, LINKED)
        self.shot("comparison")
        self.press(Key.Key_V)
        self.press(Key.Key_Space)
        self.shot("search")
        self.press(Key.Key_Escape)
        self.go_to(REPEATED)
        self.press(Key.Key_Return, modifier=SHIFT)
        self.shot("propagation")
        self.press(Key.Key_Escape)
        for name, command in (
            ("bulk", "queue.bulk"),
            ("entities", "mention.nils"),
            ("dashboard", "view.dashboard"),
            ("retrain", "model.retrain"),
            ("palette", "view.palette"),
        ):
            self.command(command)
            self.shot(name)
            self.leave()

    def _ready(self) -> bool:
        return self.hand.bench.project.suggestions.status().state is LinkerState.READY


def welcome(session: Session) -> None:
    session.command("project.close")
    session.shot("welcome")


def take(given: Path, out: Path, *, scale: int, theme: ThemeChoice, language: Language, more: bool) -> None:
    """All states in one window, with settings of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CURATOR_CONFIG_DIR"] = folder
        save(Settings(curator_name="Anna Berg", theme=theme, interface_size=scale, language=language))
        project = Path(folder) / given.name
        shutil.copytree(given, project)
        with desk(project) as hand:
            _fill_screen(hand.window)
            session = Session(hand, out, theme.value, Path(folder))
            session.all()
            if more:
                screenshot_places.take(session)
            welcome(session)
            hand.window.preferences.step("interface_size", 100 - scale)  # the next window begins at the usual size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--out", type=Path, default=Path("shots"))
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["1440x900"], help="of the screen")
    parser.add_argument("--scale", nargs="+", type=int, choices=(100, 200), default=[100], help="of the interface")
    parser.add_argument("--language", type=Language, choices=list(Language), default=Language.ENGLISH)
    parser.add_argument("--places", action="store_true", help="further places than the ten")
    parser.add_argument("--folders", action="store_true", help="a folder for each size and scale")
    options = parser.parse_args()
    if len(options.size) > 1:  # a process has one display
        for size in options.size:
            command = [sys.executable, "-m", "tests.benchmarks.screenshots", str(options.project), "--size", size]
            command += ["--out", str(options.out), "--scale", *map(str, options.scale), "--folders"]
            command += ["--language", options.language]
            subprocess.run([*command, *(["--places"] if options.places else [])], check=False)
        return
    with display(f"{options.size[0]}x24"):
        for scale in options.scale:
            out = options.out / f"{options.size[0]}-{scale}" if options.folders else options.out
            out.mkdir(parents=True, exist_ok=True)
            for theme in (ThemeChoice.LIGHT, ThemeChoice.DARK):
                take(options.project, out, scale=scale, theme=theme, language=options.language, more=options.places)


def _fill_screen(window: QWidget) -> None:
    window.setGeometry(window.screen().geometry())


if __name__ == "__main__":
    main()
