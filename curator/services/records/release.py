"""A release: everything needed to check and cite a set of decisions; the same state gives the same bytes.

    release.json          what it is: project, counts, scope, knowledge base, bundle, metrics
    documents.jsonl       id, file, split, state, length and the SHA-256 of every text; no text
    decisions.jsonl       every mention with its decision, curator and time, in document and text order
    guidelines.md the curators' guidelines
    knowledge-base.json   name, content hash, counts; provisional entities in full
    bundle.json           the linker's manifest with the hashes of its files
    judgements.jsonl judgements of closed rounds, if there are any
    SHA256SUMS            of all the files above, for `sha256sum -c`

It contains neither time nor place of the export, and a zip has its files in this order with a fixed time.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator import __version__
from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import Document, Mention, text_hash
from curator.domain.rounds import Judgement
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service
from curator.services.curating.notes import GUIDELINES_KEY
from curator.services.ports.files import FileWriter
from curator.services.ports.storage import UnitOfWork
from curator.services.records.exporting import ExportScope, documents_of
from curator.services.rounds.rounds import adjudicated_by
from curator.services.training.bundles import BundleSwitch

FORMAT, VERSION = "curator-release", 1
SUMS = "SHA256SUMS"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can store."""
ZIP = ".zip"


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """`sha256` is that of the zip, or of a folder's SHA256SUMS."""

    path: Path
    files: tuple[str, ...]
    documents: int
    decisions: int
    sha256: str


class ReleaseService(Service):
    def __init__(self, context: Context, switch: BundleSwitch, files: FileWriter) -> None:
        super().__init__(context)
        self._switch = switch
        self._files = files

    def export(self, out: Path, *, scope: ExportScope = ExportScope.DONE) -> ReleaseReport:
        """Write a folder, or a zip if the name ends with `.zip`. Raises UserError if the scope is empty, for a path
        inside the project, a folder with other contents, or if the project's disk fails; then nothing is changed."""
        _refuse(self._store.folder, out)
        content, documents, decisions = self._content(scope)
        self._store.settle()
        if out.suffix.lower() == ZIP:
            raw = zipped(content)
            self._files.write({out: raw})
            return ReleaseReport(out, tuple(content), documents, decisions, _sha256(raw))
        self._files.write_folder(out, content)
        return ReleaseReport(out, tuple(content), documents, decisions, _sha256(content[SUMS]))

    def _content(self, scope: ExportScope) -> tuple[dict[str, bytes], int, int]:
        """The files by name in the order of writing, and the numbers of documents and decisions."""
        with self._store.read() as unit:
            wanted = documents_of(unit, scope)
            ids = [one for one in unit.documents.ids() if wanted is None or one in wanted]
            if not ids:
                raise UserError(
                    tr(
                        "Nothing to release: the project has no documents that are “{value}”.",
                        value=scope.value,
                    )
                )
            files = {file.id: file.name for file in unit.files.all()}
            documents: list[bytes] = []
            decisions: list[bytes] = []
            counts: Counter[str] = Counter()
            for document_id in ids:
                document = unit.documents.get(document_id, compared=True)
                documents.append(_json_line(_document(document, files[document.source_file_id])))
                decisions += _decisions(unit, document, scope, counts)
            judgements = list(_judgements(unit, set(ids)))
            content = {
                "release.json": _json(self._head(unit, scope, len(ids), counts)),
                "documents.jsonl": b"".join(documents),
                "decisions.jsonl": b"".join(decisions),
                "guidelines.md": (unit.meta.get(GUIDELINES_KEY) or "").encode("utf-8", "surrogatepass"),
                "knowledge-base.json": _json(_knowledge_base(unit)),
                "bundle.json": _json(self._bundle()),
            }
        if judgements:
            content["judgements.jsonl"] = b"".join(judgements)
        content[SUMS] = "".join(f"{_sha256(raw)}  {name}\n" for name, raw in content.items()).encode()
        return content, len(ids), len(decisions)

    def _head(self, unit: UnitOfWork, scope: ExportScope, documents: int, counts: Counter[str]) -> dict[str, Any]:
        info = unit.kb.info()
        active = self._switch.active()
        return {
            "format": FORMAT,
            "version": VERSION,
            "curator": __version__,
            "project": unit.meta.get("project.name") or "",
            "project_id": unit.meta.get("project.id") or "",
            "scope": scope.value,
            "documents": documents,
            "mentions": {key: counts[key] for key in sorted(counts)},
            "curators": unit.records.curators(),
            "knowledge_base": info.content_hash if info else "",
            "bundle": active.id if active else "",
            "metrics": active.metrics if active else {},
        }

    def _bundle(self) -> dict[str, Any]:
        active = self._switch.active()
        if active is None:
            return {}
        path = Path(active.path) / "manifest.json"
        try:
            manifest = path.read_bytes()
        except OSError as error:
            raise UserError(
                tr(
                    "{path} cannot be read ({strerror}). Use another linker, then create the release.",
                    path=path,
                    strerror=error.strerror,
                )
            ) from error
        found: dict[str, Any] = json.loads(manifest)
        return {"manifest_sha256": _sha256(manifest), "manifest": found}


def zipped(content: dict[str, bytes]) -> bytes:
    """A zip whose bytes depend only on the files: their order, a fixed time, plain permissions, no compression
    (compression differs from one version of zlib to another)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, raw in content.items():
            info = zipfile.ZipInfo(name, LONG_AGO)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, raw)
    return out.getvalue()


def _refuse(project: Path, out: Path) -> None:
    folder = project.resolve()
    if folder in (out.resolve(), *out.resolve().parents):
        raise UserError(
            tr("{out} is inside the project's own folder. Choose a location outside {name}.", out=out, name=folder.name)
        )


def _document(document: Document, file: str) -> dict[str, Any]:
    return {
        "id": document.external_id,
        "file": file,
        "occurrence": document.occurrence,
        "split": document.split.value,
        "state": document.state.value,
        "characters": len(document.text),
        "sha256": text_hash(document.text),
    }


def _decisions(unit: UnitOfWork, document: Document, scope: ExportScope, counts: Counter[str]) -> Iterator[bytes]:
    current = unit.decisions.current_of_document(document.id)
    for mention in unit.mentions.of_document(document.id):
        decision = current.get(mention.id)
        adjudicated = decision is not None and adjudicated_by(decision.note)
        if decision is None or (scope is ExportScope.ADJUDICATED and not adjudicated):
            counts["undecided"] += decision is None
            continue
        counts[decision.verdict.outcome.value] += 1
        counts["adjudicated"] += adjudicated
        yield _json_line(_decision(document, mention, decision))


def _decision(document: Document, mention: Mention, decision: Decision) -> dict[str, Any]:
    verdict = decision.verdict
    return {
        "document": document.external_id,
        "occurrence": document.occurrence,
        **_place(mention),
        "outcome": verdict.outcome.value,
        "entities": list(verdict.entity_ids),
        "reason": verdict.reason.value if verdict.reason else None,
        "curator": decision.curator,
        "at": decision.at.isoformat(),
        "note": decision.note,
        "bundle": decision.shown.bundle_id if decision.shown else "",
    }


def _place(mention: Mention) -> dict[str, Any]:
    spans = [[span.start, span.end] for span in mention.spans]
    return {"spans": spans, "text": mention.text, "type": mention.type}


def _knowledge_base(unit: UnitOfWork) -> dict[str, Any]:
    info = unit.kb.info()
    entities = sorted((one.entity for one in unit.kb.all_provisional()), key=lambda one: one.id)
    made = [
        {"id": one.id, "name": one.name, "types": one.types, "definition": one.definition, "synonyms": one.synonyms}
        for one in entities
    ]
    if info is None:
        return {"provisional": made}
    return {
        "name": info.name,
        "content_hash": info.content_hash,
        "entities": info.entities,
        "names": info.names,
        "definitions": info.definitions,
        "types": info.types,
        "provisional": made,
    }


def _judgements(unit: UnitOfWork, documents: set[int]) -> Iterator[bytes]:
    for found in unit.rounds.all():
        if found.closed:
            for one in unit.rounds.current(found.id):
                mention = unit.mentions.get(one.mention_id)
                if mention.document_id in documents:
                    document = unit.documents.row(mention.document_id).external_id
                    yield _json_line(_judgement(found.name, document, mention, one))


def _judgement(name: str, document: str, mention: Mention, one: Judgement) -> dict[str, Any]:
    return {
        "round": name,
        "document": document,
        **_place(mention),
        "curator": one.curator,
        "outcome": one.verdict.outcome.value,
        "entities": list(one.verdict.entity_ids) if one.verdict.outcome is Outcome.LINK else [],
        "reason": one.verdict.reason.value if one.verdict.reason else None,
        "at": one.at.isoformat(),
    }


def _json(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=str)
    return (text + "\n").encode("utf-8", "surrogatepass")


def _json_line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
