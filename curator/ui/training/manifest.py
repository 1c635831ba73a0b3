"""Information about a bundle: notes, manifest, and times of use."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from curator.domain.jobs import Activation, ActivationKind
from curator.domain.wording import localised, tr
from curator.ui.kit.form import ShowDialog
from curator.ui.kit.row_list import fixed_font

KINDS = {
    ActivationKind.JOB: "put into use when it was created",
    ActivationKind.CURATOR: "put into use",
    ActivationKind.ROLLBACK: "put back into use by a rollback",
}


class ManifestDialog(ShowDialog):
    """Shows plain text that can be searched, selected and copied."""

    def __init__(self, title: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.text = QPlainTextEdit(text, self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(title)
        self.text.setTabChangesFocus(True)
        self.text.setFont(fixed_font())
        self.body.addWidget(self.text, 1)
        self.add_button(tr("&Copy"), lambda: QGuiApplication.clipboard().setText(text))
        self.resize(760, 560)


def served_words(activations: Sequence[Activation], bundle_id: str) -> str:
    """A line for each time the bundle was put in use, with curator and reason."""
    lines = []
    for one in activations:
        if one.bundle_id == bundle_id:
            why = f": {one.reason}" if one.reason else ""
            words = tr(
                "{time} {what} ({curator})",
                time=localised(one.at.astimezone(), "%d %b %Y, %H:%M"),
                what=tr(KINDS[one.kind]),
                curator=one.actor,
            )
            lines.append(f"{words}{why}")
    return "\n".join(lines)


def manifest_words(notes: Sequence[str], manifest: str, served: str) -> str:
    """The three parts under their headings; empty ones are left out."""
    parts = ((tr("When it was in use"), served), (tr("Training notes"), "\n".join(notes)), (tr("Manifest"), manifest))
    shown = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in parts if text]
    return "\n\n".join(shown) or tr("The manifest of this linker cannot be read.")
