"""MEDLINE / nbib: `PMID- `, `TI  - `, `AB  - ` with indented continuation lines, for reading only.

The text is the title and the abstract, one a line. The labels of a structured abstract are in the text as in the file
(`METHODS: ...`); the passages have them as labels and begin after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument
from curator.domain.wording import tr
from curator.io.files.format import ReadOnly
from curator.io.files.reading import NOT_AVAILABLE, RecordReader
from curator.io.files.source import BOM, without_line_end

_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) *- ?(.*)", re.DOTALL)
_START = re.compile(r"^PMID *- *\d", re.MULTILINE)
# a label is in capitals, at the beginning of the abstract or after a sentence
_LABEL = re.compile(r"(?:^|(?<=[.?!:;)\]\"'] ))([A-Z][A-Z0-9 ,/&()'-]{2,80}): ")


@dataclass(slots=True)
class _Record:
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        self.fields.setdefault(tag, []).append(value.strip())
        self.last = tag

    def go_on(self, value: str) -> None:
        self.fields[self.last][-1] = f"{self.fields[self.last][-1]} {value.strip()}".strip()

    def first(self, *tags: str) -> str:
        return next((v for tag in tags for v in self.fields.get(tag, ()) if v), "")


class MedlineReader(RecordReader):
    """Streams the records of one file."""

    format = "medline"
    none = "{path} contains no MEDLINE record with a PMID and a title or abstract"

    def documents(self) -> Iterator[SourceDocument]:
        for record in self._records():
            document = self._document(record)
            if document is not None:
                yield document

    def _records(self) -> Iterator[_Record]:
        """A record ends at a blank line or at the next `PMID`."""
        record: _Record | None = None
        for number, line in enumerate(self.source.lines(), 1):
            line = without_line_end(line.removeprefix(BOM) if number == 1 else line)
            found = _FIELD.match(line)
            if record is not None and (not line.strip() or (found and found[1] == "PMID" and "PMID" in record.fields)):
                yield record
                record = None
            if not line.strip():
                continue
            record = record or _Record(number)
            if found:
                record.add(found[1], found[2])
            elif line[0] in " \t" and record.last:
                record.go_on(line)
            else:
                self.problems.set_aside(tr("is neither a field nor its continuation: {line}", line=line[:80]), number)
        if record is not None:
            yield record

    def _document(self, record: _Record) -> SourceDocument | None:
        pmid, title, abstract = record.first("PMID"), record.first("TI", "TT", "BTI"), record.first("AB")
        if title.lower() in NOT_AVAILABLE:
            title = record.first("TT") or title
        if not self.is_usable(pmid, title, abstract, record.line):
            return None
        text = f"{title}\n{abstract}" if title and abstract else title or abstract
        passages = [Passage("title", 0, len(title))] if title else []
        passages += abstract_passages(abstract, len(text) - len(abstract)) if abstract else []
        return SourceDocument(pmid, title, text, tuple(passages), (), "", record.line)


class MedlineFormat(ReadOnly):
    name = "medline"
    title = "MEDLINE (nbib)"
    refusal = "{path} is not MEDLINE: no line like `PMID- 12345`; choose another format"
    reader = MedlineReader

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return _START.search(head.decode("utf-8", "ignore")) is not None


def abstract_passages(abstract: str, start: int) -> list[Passage]:
    """The parts of a structured abstract, which begins with a label; any other abstract as a whole."""
    labels = list(_LABEL.finditer(abstract))
    if not labels or labels[0].start() != 0:
        return [Passage("abstract", start, start + len(abstract))]
    ends = [label.start() for label in labels[1:]] + [len(abstract)]
    passages = []
    for label, end in zip(labels, ends, strict=True):
        body = abstract[label.end() : end].rstrip()
        passages.append(Passage("abstract", start + label.end(), start + label.end() + len(body), label[1]))
    return passages
