"""What a reader or a writer reports about the data of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from curator.domain.wording import tr
from curator.io.files.source import plain_text
from curator.services.ports.files import ExportMention, LeftOut, Problem


class Report(list[Problem]):
    """The problems of one reading or writing, by their severity; line 0 is the whole file."""

    def note(self, text: str, line: int = 0) -> None:
        self.append(Problem(line, "note", plain_text(text)))  # JSON escapes may contain what a console cannot show

    def notes(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.note(text)

    def repaired(self, text: str, line: int = 0) -> None:
        self.append(Problem(line, "repaired", plain_text(text)))

    def set_aside(self, text: str, line: int = 0) -> None:
        self.append(Problem(line, "set aside", plain_text(text)))

    def left_out(self, gold: ExportMention, text: str, severity: str = "set aside") -> None:
        """A mention that the format cannot represent."""
        self.append(LeftOut(0, severity, text, mentions=(gold.mention.id,)))


def first_of(problems: Sequence[Problem]) -> str:
    """The end of the message that nothing was usable: the first problem, or nothing."""
    if not problems:
        return ""
    first = problems[0]
    if not first.line:
        return tr(" ({text})", text=first.text)
    return tr(" (line {line}: {text})", line=first.line, text=first.text)
