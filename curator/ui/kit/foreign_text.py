"""Shows untrusted text as plain text: titles, mentions, names, definitions, comments, file names, error messages.

Qt interprets text that looks like HTML in tooltips and labels: `<img src="file:///…">` in a title would open that file.
So labels are `PlainLabel`, tooltips are `tip(…)`, and pages of rich text are `StillBrowser`, which opens no file and no
network address. Nothing else in `curator.ui` makes a `QLabel` or a `QTextBrowser`;
`tests/curator/ui/kit/test_foreign_text.py` and `tests/curator/ui/window/test_hostile.py` check it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QTextBrowser, QWidget

from curator.domain.wording import tr
from curator.ui.kit.messages import tell

LONGEST = 5_000
"""The most characters in a label; longer text is cut with an ellipsis."""
LONGEST_PART = 1_000
TIP_LINES, TIP_WIDTH = 24, 100
"""The most lines of a tooltip, and the characters of a line."""
LARGEST_IMAGE = 8 << 20
"""The most bytes of an image in the guidelines."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, direction marks that affect all following text, and lone surrogates."""
_MARKUP = re.compile("[<&]")
MOST_PASTED = 1_000_000
UNBROKEN = 20_000
"""The most characters without a blank. Qt lays out a million in lines in 0.5 s, but 300,000 without a blank in 7 s
(quadratic)."""
_UNBROKEN = re.compile(rf"\S{{{UNBROKEN}}}")
PASTED_TOO_MUCH = "The clipboard contains {n:,} characters, too many for this field. Nothing was pasted."
PASTED_UNBROKEN = "The clipboard contains more than {n:,} characters without a blank. Nothing was pasted."


def shown(words: str, longest: int = LONGEST) -> str:
    """The text as a label may show it: invisible characters and direction marks become U+FFFD.

    At most `longest` characters, the last of them an ellipsis if the text is longer.
    """
    if len(words) > longest:
        words = words[: longest - 1] + "…"
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", words)


def tip(words: str) -> str:
    """A tooltip that shows the text as written, in lines of at most `TIP_WIDTH` characters.

    Without `<` and `&` it is the text itself; else it is rich text in which they are escaped.
    """
    lines = [part for line in shown(words).split("\n") for part in _in_lines(line)]
    if len(lines) > TIP_LINES:
        lines = [*lines[: TIP_LINES - 1], "…"]
    plain = "\n".join(lines)
    return f"<p style='white-space:pre'>{escape(plain)}</p>" if _MARKUP.search(plain) else plain


def _in_lines(line: str) -> list[str]:
    return [line] if len(line) <= TIP_WIDTH else wrap(line, TIP_WIDTH) or [""]


def escaped(words: str) -> str:
    """The escaped text for a rich-text tooltip, at most `LONGEST_PART` characters."""
    return escape(shown(words, LONGEST_PART)).replace("\n", "<br>")


def in_role(words: str, role: int) -> str:
    """The value of a model's role for a text that is both shown in a row and its tooltip."""
    return tip(words) if role == Qt.ItemDataRole.ToolTipRole else words


class PlainLabel(QLabel):
    """A label that shows its text as written."""

    def __init__(self, words: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(words)

    def setText(self, words: str) -> None:
        super().setText(shown(words))


class PlainEdit(QPlainTextEdit):
    """A multi-line field that accepts from the clipboard only text that Qt can lay out quickly."""

    def insertFromMimeData(self, source: QMimeData) -> None:
        text = source.text()
        if len(text) > MOST_PASTED:
            tell(self, tr("Paste"), tr(PASTED_TOO_MUCH, n=len(text)))
        elif _UNBROKEN.search(text):
            tell(self, tr("Paste"), tr(PASTED_UNBROKEN, n=UNBROKEN))
        else:
            super().insertFromMimeData(source)


class StillBrowser(QTextBrowser):
    """Rich text or Markdown that opens nothing: no link, no file, no network address.

    Images with a relative path are shown if they are in `images`, the only folder that is read.
    """

    def __init__(self, parent: QWidget | None = None, *, images: Path | None = None) -> None:
        super().__init__(parent)
        self._images = images
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)

    def setMarkdown(self, text: str) -> None:
        """Set Markdown with HTML shown as plain text. Text without blanks gets break opportunities."""
        text = _UNBROKEN.sub(lambda found: f"{found[0]} ", text)
        features = QTextDocument.MarkdownFeature
        self.document().setMarkdown(text, features.MarkdownDialectGitHub | features.MarkdownNoHTML)
        self.moveCursor(QTextCursor.MoveOperation.Start)  # Qt leaves the cursor at the end and scrolls there on show

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return the image, or a transparent one: Qt opens the file itself if it gets none. Nothing for other kinds."""
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return QByteArray(b"")
        path = self._image(QUrl(name))
        with suppress(OSError):
            image = QImage.fromData(path.read_bytes()) if path is not None else QImage()
            if not image.isNull():
                return image
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing

    def _image(self, name: QUrl) -> Path | None:
        """The path of an image in the folder of images; symbolic links must not lead out of it."""
        words = name.path() if name.isRelative() and not name.host() else ""
        if self._images is None or not words or "\0" in words:
            return None
        try:
            folder = self._images.resolve()
            path = (folder / words).resolve()
            inside = path.is_relative_to(folder) and path.is_file() and path.stat().st_size <= LARGEST_IMAGE
        except (OSError, ValueError):
            return None
        return path if inside and path.suffix.lower() in PICTURES else None
