"""The window's language: which one, and Qt's own words beside the program's."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from curator.domain import wording
from curator.domain.catalogues import catalogue, languages, read_po
from curator.settings.schema import Language

__all__ = ["catalogue", "code_of", "languages", "read_po", "speak"]


def speak(app: QApplication, wanted: Language) -> None:
    """Let the program, and what Qt says by itself, speak the wanted language; English where there is no other."""
    code = code_of(wanted)
    wording.use(catalogue(code))
    if code == "en":
        return
    translator = QTranslator(app)
    if translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)


def code_of(wanted: Language) -> str:
    """`en` or the code of a language that there is a catalogue for."""
    code = QLocale.system().name().partition("_")[0] if wanted is Language.SYSTEM else wanted.value
    return code if code in languages() else "en"
