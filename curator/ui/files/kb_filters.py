"""What of a knowledge base is read: languages, and of the UMLS vocabularies, semantic types and suppressed names."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QWidget

from curator.domain.kb_sources import KnowledgeSource
from curator.domain.wording import tr
from curator.services.ports.files import KbOptions


class KbFilters(QObject):
    """Rows of a form, of which those are visible that the file's format takes. `changed` when something else is to be
    read."""

    changed = Signal()

    def __init__(self, parent: QWidget, form: QFormLayout) -> None:
        super().__init__(parent)
        self._form = form
        self.languages = self._line(tr("Lan&guages"), tr("Languages of the names"), tr("en; for example en, de"))
        self.vocabularies = self._line(
            tr("Voca&bularies"), tr("Vocabularies that names are read of"), tr("all; for example MSH, SNOMEDCT_US")
        )
        self.types = self._line(
            tr("&Only types"), tr("Semantic types that are read"), tr("all; for example T047; T191; Clinical Drug")
        )
        self.suppressed = QCheckBox(tr("Obsolete and s&uppressed names too"), parent)
        self.suppressed.toggled.connect(self.changed)
        form.addRow("", self.suppressed)
        self._rows = {
            "languages": self.languages,
            "vocabularies": self.vocabularies,
            "types": self.types,
            "suppressed": self.suppressed,
        }
        self.show_only(())

    def show_only(self, names: Collection[str]) -> None:
        """Those that a format takes, by their names in `KbOptions`."""
        self._shown = frozenset(names) & frozenset(self._rows)
        for name, row in self._rows.items():
            self._form.setRowVisible(row, name in self._shown)

    def set_source(self, source: KnowledgeSource) -> None:
        """What was read of it the last time."""
        self.languages.setText(", ".join(source.languages))
        self.vocabularies.setText(", ".join(source.vocabularies))
        self.types.setText("; ".join(source.only_types))
        self.suppressed.setChecked(source.suppressed)

    @property
    def any_shown(self) -> bool:
        return bool(self._shown)

    @property
    def options(self) -> KbOptions:
        """Without columns; what is not visible says nothing."""
        return KbOptions(
            languages=_words(self.languages, ",") if "languages" in self._shown else (),
            vocabularies=_words(self.vocabularies, ",") if "vocabularies" in self._shown else (),
            types=_words(self.types, ";") if "types" in self._shown else (),
            suppressed=self.suppressed.isChecked() and "suppressed" in self._shown,
        )

    def _line(self, label: str, name: str, hint: str) -> QLineEdit:
        line = QLineEdit(self._form.parentWidget())
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        line.editingFinished.connect(self.changed)
        self._form.addRow(label, line)
        return line


def _words(line: QLineEdit, between: str) -> tuple[str, ...]:
    """Names of semantic types hold commas, and are parted by semicolons."""
    return tuple(word for one in line.text().split(between) if (word := one.strip()))
