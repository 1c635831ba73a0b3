"""*Help > About*: version, licences, the device that serves."""

from __future__ import annotations

from importlib import metadata, resources

from PySide6.QtCore import qVersion
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from curator import __version__
from curator.domain.wording import tr
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.labels import ScaledLabel

WHAT = "Curate entity links in PubMed and Wikia documents with an embedded, retrainable entity linker."
QT = (
    "The window uses Qt {qt} through PySide6 {pyside} under the GNU LGPL version 3, linked dynamically: "
    "you may replace these libraries by your own."
)


class AboutDialog(ShowDialog):
    """`device` is the linker's own sentence."""

    def __init__(self, *, device: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("About Curator"), parent)
        name = ScaledLabel(tr("Curator {version}", version=__version__), scale=1.5, bold=True)
        self.device = sentence(device or tr("The linker is not running, so no device serves now."), selectable=True)
        self.device.setAccessibleName(tr("Device"))
        qt = tr(QT, qt=qVersion(), pyside=metadata.version("PySide6-Essentials"))
        for widget in (
            name,
            sentence(tr(WHAT)),
            self.device,
            sentence(tr("Curator is under the Apache License 2.0. {qt}", qt=qt)),
        ):
            self.body.addWidget(widget)
        self.notice = QPlainTextEdit(notice(), self)
        self.notice.setReadOnly(True)
        self.notice.setTabChangesFocus(True)
        self.notice.setAccessibleName(tr("Licences of what Curator contains"))
        self.notice.setFont(QFont(self.font()))
        self.body.addWidget(self.notice, 1)
        self.resize(620, 520)


def notice() -> str:
    """What Curator contains and under which licences."""
    return (resources.files("resources") / "NOTICE").read_text(encoding="utf-8")
