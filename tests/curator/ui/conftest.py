"""Fixtures of every test of the window's widgets: an offscreen platform, the light theme, and keyboard focus."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_QPA_PLATFORMTHEME", "")

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from curator.commands.command import Keymap
from curator.ui.kit.key_names import use_keys
from curator.ui.kit.theme import FRAMED, LIGHT
from curator.ui.shell.catalogue import COMMANDS

OFFSCREEN = "This plugin does not support (propagateSizeHints|raise|grabbing the keyboard)"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform warns about what only a real screen can do; every other Qt warning fails a test."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.qt_log_ignore(OFFSCREEN, extend=True))


@pytest.fixture(autouse=True)
def usual_keys() -> None:
    """Hints name the usual keys, as they do in a window."""
    use_keys(Keymap(), COMMANDS)


@pytest.fixture(scope="session")
def usual_font(qapp: QApplication) -> QFont:
    return QFont(qapp.font())


@pytest.fixture(autouse=True)
def light(qapp: QApplication, usual_font: QFont) -> None:
    """Every test starts with the same palette and font and without a sheet, after any earlier test: under a sheet, a
    widget's parts would not take its palette."""
    if qapp.styleSheet():
        qapp.setStyleSheet("")
    qapp.setStyle("Fusion")
    qapp.setPalette(LIGHT.palette)
    for name in FRAMED:
        qapp.setPalette(LIGHT.palette, name)  # type: ignore[arg-type]  # a str, not bytes
    if qapp.font() != usual_font:
        qapp.setFont(usual_font)
