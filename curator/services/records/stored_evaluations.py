"""Stored evaluations, each in its own file in the project's folder `evaluations`.

A file holds four compressed lines of JSON: a header, the figures, the errors, the report. Listing reads only the
headers. A file is written once, atomically, and never changed, so it needs no lock on the project. For the 9,385
mentions of BC5CDR's 500 training documents with 929 errors it takes 89 kB, 71 kB of it for the errors.
"""

from __future__ import annotations

import gzip
import json
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from curator.domain.decisions import Outcome
from curator.domain.wording import UserError, tr
from curator.foreign_files import open_regular
from curator.services.core.context import Context, Service
from curator.services.ports.files import FileWriter
from curator.services.records.evaluation_errors import ErrorList, errors_file, errors_of, joined

FOLDER, SUFFIX = "evaluations", ".json.gz"
HTML, ERRORS = "html", "errors"
LONGEST = 1 << 26
"""Bytes of a line. A longer one is cut, and so is no JSON: a small file may hold a very long one."""
BROKEN = (OSError, EOFError, zlib.error, ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """The header of an evaluation. `mentions` were compared, `errors` answers were wrong; None if the list was not
    stored."""

    id: str
    made: datetime
    split: str
    bundle: str
    mentions: int
    errors: int | None


class StoredEvaluations(Service):
    """All methods except `keep` are read-only and thread-safe."""

    def __init__(self, context: Context, files: FileWriter) -> None:
        super().__init__(context)
        self._files = files

    @property
    def _folder(self) -> Path:
        return self._store.folder / FOLDER

    def keep(self, result: Mapping[str, Any]) -> str:
        """Store the result of an evaluation; returns its id. Raises UserError if the folder is not writable."""
        made = datetime.fromisoformat(str(result["made"]))
        id_ = f"{made:%Y%m%d-%H%M%S}-{result['split']}-{secrets.token_hex(2)}"
        head = {
            "id": id_,
            "made": made.isoformat(),
            "split": result["split"],
            "bundle": result["bundle"],
            "mentions": result["mentions"],
            "errors": len(result[ERRORS]["rows"]) if ERRORS in result else None,
        }
        figures = {name: value for name, value in result.items() if name not in (HTML, ERRORS)}
        lines = (head, figures, result.get(ERRORS), result.get(HTML))
        text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in lines)
        packed = gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0)
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise UserError(
                tr(
                    "The evaluation cannot be stored in {folder} ({strerror}). Check the folder's permissions and the "
                    "free disk space.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        self._files.write({self._folder / f"{id_}{SUFFIX}": packed})
        return id_

    def all(self) -> list[StoredEvaluation]:
        """All evaluations, newest first. Unreadable files are left out: `result` reports the problem. A read that
        failed is tried again, or an older evaluation would count as the newest."""
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            for _ in range(2):
                try:
                    with open_regular(path) as packed, gzip.open(packed) as file:
                        found.append(_head(json.loads(file.readline(LONGEST))))
                    break
                except BROKEN:
                    continue
        return sorted(found, key=lambda one: (one.made, one.id), reverse=True)

    def find(self, evaluation_id: str = "") -> StoredEvaluation:
        """The evaluation with this id, or the newest. Raises UserError if there is none."""
        every = self.all()
        found = next((one for one in every if evaluation_id in ("", one.id)), None)
        if found is not None:
            return found
        if not every:
            raise UserError(
                tr("No evaluation is stored yet. Run Tools › Evaluate, or `curator evaluate`, to make one.")
            )
        raise UserError(
            tr(
                "Evaluation {id} was not found. Stored evaluations: {list}.",
                id=evaluation_id,
                list=", ".join(one.id for one in every),
            )
        )

    def result(self, evaluation_id: str) -> dict[str, Any]:
        """The result as stored, including the report. Raises UserError if it is missing or damaged."""
        path = self._folder / f"{self.find(evaluation_id).id}{SUFFIX}"
        try:
            with open_regular(path) as packed, gzip.open(packed) as file:
                _, figures, errors, html = (json.loads(file.readline(LONGEST)) for _ in range(4))
            return {**figures, ERRORS: errors or {}, HTML: html}
        except BROKEN as error:
            if isinstance(error, OSError) and error.errno is not None:  # a damaged file has no number
                raise UserError(tr("cannot read {path}: {strerror}", path=path, strerror=error.strerror)) from error
            raise UserError(
                tr(
                    "The stored evaluation {path} cannot be read ({error}). Delete the file and evaluate again.",
                    path=path,
                    error=error,
                )
            ) from error

    def errors(self, evaluation_id: str) -> ErrorList:
        """The errors of an evaluation, with the mentions decided differently since. Raises UserError like `result`."""
        return self.compared(errors_of(self.result(evaluation_id)))

    def newest_of_splits(self) -> list[StoredEvaluation]:
        """The newest evaluation of every split, newest first."""
        found: dict[str, StoredEvaluation] = {}
        for one in self.all():
            found.setdefault(one.split, one)
        return list(found.values())

    def errors_of_splits(self) -> ErrorList:
        """The errors of `newest_of_splits` as one list."""
        return self.compared(joined(errors_of(self.result(one.id)) for one in self.newest_of_splits()))

    def compared(self, found: ErrorList) -> ErrorList:
        """The list with the mentions whose decision is no longer its gold."""
        with self._store.read() as unit:
            current = unit.decisions.current([one.mention_id for one in found.rows])
        changed = set()
        for row in found.rows:
            decision = current.get(row.mention_id)
            outcome = decision.verdict.outcome if decision is not None else None
            ids = decision.verdict.entity_ids if decision is not None else ()
            same = outcome is Outcome.LINK and not set(ids).isdisjoint(row.gold)
            if not same and not (outcome is Outcome.NIL and row.is_nil):
                changed.add(row.mention_id)
        return replace(found, changed=frozenset(changed))

    def write(self, found: ErrorList, path: Path) -> None:
        """The list as a table or as JSON, by the suffix, atomically. Raises UserError."""
        self._files.write({path: errors_file(found, path.name)})


def _head(raw: Mapping[str, Any]) -> StoredEvaluation:
    errors = raw.get("errors")
    return StoredEvaluation(
        str(raw["id"]),
        datetime.fromisoformat(raw["made"]),
        str(raw["split"]),
        str(raw["bundle"]),
        int(raw["mentions"]),
        None if errors is None else int(errors),
    )
