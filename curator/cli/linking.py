"""index, link, detect, opinion, serve."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import (
    FILE,
    PROJECT,
    SPLIT,
    Result,
    command,
    counted,
    echo,
    ensure_index,
    opened,
    project_command,
    run_job,
    run_steps,
)
from curator.domain.documents import Split
from curator.domain.suggestions import OpinionUse
from curator.domain.wording import UserError
from curator.services.ports.processes import Cluster
from curator.services.ports.queue import QueueFilter

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.linking.suggestions import DocumentSuggestions, LinkReport
    from curator.services.ports.address import ProjectPlace


class ClusterAddress(click.ParamType[Cluster]):
    """`ray` for this computer, or the address of a Ray cluster."""

    name = "cluster"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Cluster:
        words = str(value)
        if words != "ray" and not re.fullmatch(r"ray://[^/\s]+:\d+", words):
            self.fail(f"{words} is neither ray nor the address of a Ray cluster such as ray://head:10001.", param, ctx)
        return Cluster("" if words == "ray" else words)


ON = click.option(
    "--on",
    "cluster",
    type=ClusterAddress(),
    metavar="ray|ray://HOST:PORT",
    help="Use several processes at once, on this computer or on a Ray cluster that shares the folder P.",
)
ACTORS = click.option(
    "--actors",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --on: how many processes. Default: one per processor or graphics card.",
)
LEXICAL = click.option("--lexical", is_flag=True, help="Use only the lexical index, which is built in seconds.")


@project_command("index")
@LEXICAL
@click.option("--again", is_flag=True, help="Rebuild the index even if it exists.")
@ON
@ACTORS
def index(project: Project, *, lexical: bool, again: bool, cluster: Cluster | None, actors: int | None) -> Result:
    """Build the index of P, and refit the linker's weights if needed.

    `detect`, `link`, `evaluate` and `train` do this automatically.
    """
    where = placed(cluster, actors)
    project.suggestions.check(where)
    ensure_index(project, lexical_only=lexical, again=again, cluster=where)
    active = next(one for one in project.retraining.bundles() if one.active)
    text = f"Linker {active.id} is in use ({', '.join(active.stages)})."
    return Result({"bundle": active.id, "stages": list(active.stages)}, text)


@command("link")
@PROJECT
@click.option("--split", type=SPLIT, help="Link only the documents of this split.")
@click.option(
    "--out",
    type=FILE,
    help="Write the suggestions to this file, one JSON line per mention, and save nothing in P.",
)
@LEXICAL
@click.option("--no-memory", is_flag=True, help="Link without the memory of earlier decisions.")
@ON
@ACTORS
def link(
    project: ProjectPlace,
    *,
    split: str | None,
    out: Path | None,
    lexical: bool,
    no_memory: bool,
    cluster: Cluster | None,
    actors: int | None,
) -> Result:
    """Link the documents of P, including mentions that are already decided.

    The decisions of a document are not used to link that document.
    """
    wanted, where = Split(split) if split else None, placed(cluster, actors)
    if out is None:
        with opened(project) as found:
            found.suggestions.check(where)
            ensure_index(found, lexical_only=lexical, cluster=where)
            report = run_steps(found.suggestions.link_split(wanted, memory=not no_memory, cluster=where))
    elif where is not None:
        raise UserError("--on saves the suggestions in P. Give either --on or --out.")
    else:
        refuse_place(out)
        index_if_missing(project, lexical=lexical)
        with opened(project, read_only=True) as found:
            report = _link_to(found, wanted, out, memory=not no_memory)
    to = f" to {out}" if out else ""
    text = (
        f"Linked {counted(report.mentions, 'mention', 'mentions')} in "
        f"{counted(report.documents, 'document', 'documents')}{to} in {report.seconds:.1f} s."
    )
    return Result(asdict(report), text)


def placed(cluster: Cluster | None, actors: int | None) -> Cluster | None:
    """Raises UserError if a number of linkers is given without a place to run them."""
    if cluster is None and actors is not None:
        raise UserError("--actors needs --on: give --on ray as well.")
    return None if cluster is None else replace(cluster, actors=actors or 0)


def index_if_missing(path: ProjectPlace, *, lexical: bool) -> None:
    """Build the index if needed. Otherwise nothing is opened for writing, so it works while a window is open."""
    with opened(path, read_only=True) as found:
        needed = found.knowledge.info() is None or found.retraining.needs_index(lexical_only=lexical)
        needed = needed or (not lexical and found.retraining.needs_calibration())
    if needed:
        with opened(path) as found:
            ensure_index(found, lexical_only=lexical)


def refuse_place(out: Path) -> None:
    """Raises UserError if `out` cannot be a file. Called before the index is built, which can take minutes."""
    if out.is_dir():
        raise UserError(f"{out} is a folder. Give the name of a file.")
    if not out.absolute().parent.is_dir():
        raise UserError(f"The folder {out.parent} was not found. Create it, or choose another folder.")


def _link_to(project: Project, split: Split | None, out: Path, *, memory: bool) -> LinkReport:
    from curator.bootstrap import AtomicFiles

    with AtomicFiles() as files:
        lines = files.open(out)

        def keep(linked: DocumentSuggestions) -> None:
            for record in mention_records(linked):
                lines.write(f"{json.dumps(record, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace"))

        return run_steps(project.suggestions.link_split(split, save=False, memory=memory, sink=keep))


def mention_records(linked: DocumentSuggestions) -> Iterator[dict[str, Any]]:
    """One record per mention, as written by `--out`."""
    for mention, suggestion in zip(linked.mentions, linked.suggestions, strict=True):
        yield {
            "document": linked.document.external_id,
            "mention": mention.id,
            "spans": [[span.start, span.end] for span in mention.spans],
            "text": mention.text,
            "type": mention.type,
            "candidates": [
                {
                    "id": one.entity_id,
                    "name": one.name,
                    "score": one.score,
                    "scores": dict(one.scores),
                    "probability": one.probability,
                }
                for one in suggestion.candidates
            ],
            "nil": suggestion.nil.score,
            "bundle": suggestion.stamp.bundle_id,
        }


# detect: find mentions in documents that have none.


@project_command("detect")
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Look for entities of this type. Repeatable. Default: the types that the mentions of P link to.",
)
@LEXICAL
def detect(project: Project, *, types: Sequence[str], lexical: bool) -> Result:
    """Find mentions in the documents of P that have none.

    It marks names from the knowledge base, texts of decided mentions, and abbreviations.
    """
    ensure_index(project, lexical_only=lexical)
    _check_types(project, types)
    result = {"documents": 0, "mentions": 0}
    if ids := project.detection.documents_without_mentions():
        outcome = run_job(
            lambda show, end: project.detection.start(ids, types=types or None, on_progress=show, on_end=end)
        )
        result = {one: outcome.result[one] for one in result}
    text = (
        f"Found {counted(result['mentions'], 'mention', 'mentions')} in "
        f"{counted(result['documents'], 'document', 'documents')} that had none."
    )
    return Result(result, text)


def _check_types(project: Project, types: Sequence[str]) -> None:
    """Raises UserError for a type that no entity of the knowledge base has."""
    info = project.knowledge.info()
    there = info.types if info is not None else ()
    for one in types:
        if one not in there:
            raise UserError(f"The knowledge base has no entities of the type {one}. Its types: {', '.join(there)}.")


# opinion: ask a language model about doubtful mentions.


@project_command("opinion")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="Ask about at most N mentions.",
)
@click.option("--address", default="", metavar="URL", help="Address of the server. Default: the one in the settings.")
@click.option("--model", default="", metavar="NAME", help="Name of the model. Default: the one in the settings.")
@click.option(
    "--gold",
    is_flag=True,
    help="Ask about decided mentions of documents that are done, to measure who is right.",
)
def opinion(project: Project, *, limit: int, address: str, model: str, gold: bool) -> Result:
    """Ask a language model on this computer about the mentions of P that the linker doubts.

    The answers are saved in P as second opinions. They decide nothing. The report says how often the model agrees with
    the linker and, with --gold, who is right how often.
    """
    service = project.opinions
    chosen = replace(
        service.options,
        use=OpinionUse.REQUEST if address else service.options.use,
        address=address or service.options.address,
        model=model or service.options.model,
    )
    if chosen.use is OpinionUse.OFF:
        raise UserError("Second opinions are turned off. Give --address, or turn them on in Tools › Second opinion.")
    if not chosen.address.strip() or not chosen.model.strip():
        raise UserError("Give --address and --model, or enter them in Tools › Second opinion.")
    listed = service.doubtful_gold if gold else service.doubtful
    mention_ids = listed(QueueFilter(), limit=limit, options=chosen)
    if gold and not mention_ids:
        raise UserError(
            "No decided mention of a done document has a doubtful suggestion. `curator link P` makes suggestions "
            "for decided mentions too."
        )
    report = run_steps(service.ask_many(mention_ids, options=chosen))
    return Result({**asdict(report), "asked": report.asked}, report.text, failure=report.stopped)


@click.command("serve")
@PROJECT
@click.option("--host", default="127.0.0.1", show_default=True, help="The address of this computer to serve.")
@click.option("--port", default=7878, show_default=True, type=click.IntRange(0, 65535), help="0: a free one.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Allow pages of this site to ask, such as http://127.0.0.1:3333 for OpenRefine. Repeatable.",
)
@click.option("--without-token", is_flag=True, help="Answer every program on this computer.")
def serve(project: ProjectPlace, *, host: str, port: int, origins: tuple[str, ...], without_token: bool) -> None:
    """Answer the Reconciliation API for other programs, such as OpenRefine.

    The linker in use matches their words with the entities of P. Nothing is written. Later decisions, and other
    linkers, are used from the next start on. The address contains a token: a new one at each start, or the one in
    CURATOR_TOKEN.
    """
    from curator.bootstrap import reconciliation_server

    token = "" if without_token else os.environ.get("CURATOR_TOKEN") or secrets.token_urlsafe(16)
    if not re.fullmatch(r"[\w-]*", token, re.ASCII):
        raise UserError("CURATOR_TOKEN may only contain letters, digits, hyphens and underscores.")
    index_if_missing(project, lexical=False)
    with opened(project, read_only=True) as found:
        server = reconciliation_server(found, host=host, port=port, token=token, origins=origins)
        linker = run_steps(found.reconciliation.start())
        echo(f"Linker {linker} answers at {server.address}\nPress Ctrl+C to stop.")
        server.run()
    echo("Stopped.")
