"""Ten states of the window in light and dark, for the README and for a person's eyes.

    curator demo demo-out                          # makes the project
    curator link demo-out/pubmed.curation          # suggestions for all mentions
    python -m tests.benchmarks.screenshots demo-out/pubmed.curation --out shots

The real window over a copy of the demo project, driven by keys; the whole screen is taken, so that dialogs are seen
where they stand. Needs Xvfb (or a display of 1440 × 900).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from curator.domain.jobs import LinkerState
from curator.ui.theme import Scheme
from tests.benchmarks.real_window import Desk, desk, display

Key = Qt.Key
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
REST = 1.2
LINKED = 120.0
"""Seconds in which the linker must have answered for the open document."""
AMBIGUOUS, REPEATED, MISSING = "hair loss", "colchicine", "febuxostat"


class Session:
    """The states one after another, each as a curator would come to it."""

    def __init__(self, hand: Desk, out: Path, theme: str) -> None:
        self.hand, self.out, self.theme = hand, out, theme
        self.number = 0

    def shot(self, name: str) -> None:
        self.hand.rest(REST)
        self.number += 1
        target = self.out / f"{self.number:02}-{name}-{self.theme}.png"
        screen = self.hand.app.primaryScreen()
        whole = screen.grabWindow(0)
        whole.save(str(target))
        print(target)

    def command(self, name: str) -> None:
        self.hand.window.menus.action(name).trigger()
        self.hand.rest(REST)

    def press(self, *keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        for key in keys:
            self.hand.press(key, modifier)
            self.hand.rest(0.2)

    def go_to(self, words: str) -> None:
        """The first undecided mention of these words in the open document."""
        navigator = self.hand.bench.navigator
        opened = navigator.opened
        assert opened is not None
        found = next(one for one in opened.mentions if one.mention.text == words and one.decision is None)
        navigator.select(found.mention.id)
        self.hand.rest(0.3)

    def leave(self) -> None:
        """Close what stands over the window."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--out", type=Path, default=Path("shots"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    states: tuple[Callable[[Session], None], ...] = (Session.all, welcome)
    with display():
        for scheme in (Scheme.LIGHT, Scheme.DARK):
            folder = Path(tempfile.mkdtemp())
            project = folder / options.project.name
            shutil.copytree(options.project, project)
            with desk(project) as hand:
                _fill_screen(hand.window)
                hand.window.menus.action(f"view.{scheme.value}").trigger()
                session = Session(hand, options.out, scheme.value)
                for state in states:
                    state(session)
            shutil.rmtree(folder, ignore_errors=True)


def _fill_screen(window: QWidget) -> None:
    window.setGeometry(window.screen().geometry())


if __name__ == "__main__":
    main()
