"""detect: mark mentions where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, PROJECT, counted, ensure_index, opened, run_job, say
from curator.cli.linking import LEXICAL
from curator.domain.errors import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project


@click.command("detect")
@PROJECT
@click.option("--type", "types", multiple=True, metavar="TYPE", help="An entity type to look for; repeat it. [all]")
@LEXICAL
@AS_JSON
def detect(project: Path, *, types: Sequence[str], lexical: bool, as_json: bool) -> None:
    """Mark names, remembered mentions and abbreviations in the documents of P that have no mentions."""
    with opened(project) as found:
        ensure_index(found, lexical_only=lexical)
        _check_types(found, types)
        ids = found.detection.documents_without_mentions()
        result = {"documents": 0, "mentions": 0}
        if ids:
            found.suggestions.refresh()
            outcome = run_job(lambda show, end: found.detection.start(ids, types=types, on_progress=show, on_end=end))
            result = dict(outcome.result)
    text = (
        f"Detected {counted(result['mentions'], 'mention', 'mentions')} in "
        f"{counted(result['documents'], 'document', 'documents')} without any."
    )
    say(result, text, as_json=as_json)


def _check_types(project: Project, types: Sequence[str]) -> None:
    """Raises UserError for a type that no entity has."""
    info = project.knowledge.info()
    there = info.types if info is not None else ()
    for one in types:
        if one not in there:
            raise UserError(f"The knowledge base has no entities of the type {one}. Its types: {', '.join(there)}.")
