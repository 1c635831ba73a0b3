"""Documents with their decisions as JSON lines: the one format that carries every outcome, who decided it, and when.

One document a line: {"id", "file", "occurrence", "title", "split", "state", "text", "passages": [{"kind", "start",
"end", "label"}], "mentions": [{"spans": [[start, end], …] in code points, "text", "type", "origin", "stated": the
source's identifiers, "outcome": null while undecided, "entities", "reason", "curator", "at", "note"}]}.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceFile
from curator.domain.errors import UserError
from curator.io.atomic import AtomicFiles
from curator.io.export import check_spans, target_paths
from curator.services.ports import Carries, DocumentReader, ExportDocument, GoldMention, Problem


class DecisionsFormat:
    """Writes only: a project itself is what reads its decisions."""

    name = "decisions"
    title = "Curator JSON lines"
    can_read = False
    can_write = True
    carries = Carries(mentions=True, discontinuous=True, several_ids=True, nil=True)
    carries_people = True

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return False

    def open(self, path: Path) -> DocumentReader:
        raise UserError(f"{path}: {self.title} are written, not read. Import the documents from where they came from.")

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """One file for each imported file. Raises UserError; then nothing was changed."""
        self.problems = []
        chosen = list(files)
        targets = target_paths(out, [file for file, _ in chosen], format_name=self.name, suffix=".decisions.jsonl")
        with AtomicFiles() as atomic:
            if targets != [out]:
                atomic.folder(out)
            for (file, documents), target in zip(chosen, targets, strict=True):
                stream = atomic.open(target)
                for item in documents:
                    check_spans(item)
                    line = json.dumps(document_line(item, file), ensure_ascii=False) + "\n"
                    stream.write(line.encode("utf-8", "surrogatepass"))
        return targets


def document_line(item: ExportDocument, file: SourceFile) -> dict[str, Any]:
    document = item.document
    return {
        "id": document.external_id,
        "file": file.name,
        "occurrence": document.occurrence,
        "title": document.title,
        "split": document.split.value,
        "state": document.state.value,
        "text": document.text,
        "passages": [asdict(one) for one in document.passages],
        "mentions": [_mention(one) for one in item.mentions],
    }


def _mention(gold: GoldMention) -> dict[str, Any]:
    mention, decision = gold.mention, gold.decision
    verdict = decision.verdict if decision else None
    return {
        "spans": [[span.start, span.end] for span in mention.spans],
        "text": mention.text,
        "type": mention.type,
        "origin": mention.origin.value,
        "stated": mention.raw_ids,
        "outcome": verdict.outcome.value if verdict else None,
        "entities": list(verdict.entity_ids) if verdict else [],
        "reason": verdict.reason.value if verdict and verdict.reason else None,
        "curator": decision.curator if decision else None,
        "at": decision.at.isoformat() if decision else None,
        "note": decision.note if decision else "",
    }
