"""facets, work, claims, holdout, guidelines, accept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, FilePath, change_facts, counted, opened, say
from curator.domain.facets import NUMBERS, Facet, Facets, Range
from curator.domain.wording import UserError
from curator.services.curating.bulk_plan import MOST_CHECKS, Audit, AuditState, percent_up, tally
from curator.services.curating.bulk_sheet import SampleSheet, read_sheet, sheet_of
from curator.services.ports.queue import QueueFilter
from curator.services.queue.team import MINUTES

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.curating.bulk import BulkOffer, BulkReport
    from curator.services.ports.address import ProjectPlace
    from curator.services.queue.holdout import Agreement


WHERE = click.option(
    "--where",
    "chosen",
    multiple=True,
    metavar="FACET=VALUE",
    help="Only mentions with this value, such as type=Disease or attribute=negation=negated, or with a number in this "
    "range, such as probability=0.37..0.52 or margin=0.9.. for 0.9 and more. Repeatable. "
    f"Facets: {', '.join(Facet)}.",
)
FILTER = click.option("--filter", "named", default="", metavar="NAME", help="Use this filter, saved in the project.")


def read_facets(chosen: Sequence[str]) -> Facets:
    """The facets of FACET=VALUE pairs. Raises UserError for anything else."""
    values: dict[Facet, list[str]] = {}
    for pair in chosen:
        name, equals, value = pair.partition("=")
        if not equals or name not in {facet.value for facet in Facet}:
            raise UserError(
                f"“{pair}” is not a facet with a value. Write FACET=VALUE. The facets are {', '.join(Facet)}."
            )
        if Facet(name) in NUMBERS and ".." in value:
            within = Range.of(value)
            if within is None:
                raise UserError(
                    f"“{pair}” is not a range. Write two numbers, such as {name}=0.37..0.52 or {name}=0.9.."
                )
            value = within.key
        values.setdefault(Facet(name), []).append(value)
    return Facets.of(values)


def filter_of(project: Project, chosen: Sequence[str], named: str) -> QueueFilter:
    """The filter of --where and --filter; a saved filter replaces --where. Raises UserError if it is not saved in P."""
    if not named:
        return QueueFilter(facets=read_facets(chosen))
    saved = project.filters.all()
    if named not in saved:
        raise UserError(f"Filter “{named}” was not found. Filters saved in P: {', '.join(saved) or 'none'}.")
    return saved[named]


@click.command()
@PROJECT
@WHERE
@AS_JSON
def facets(project: ProjectPlace, chosen: tuple[str, ...], *, as_json: bool) -> None:
    """Count the mentions of P by state, type, probability and the other facets."""
    wanted = read_facets(chosen)
    with opened(project, read_only=True) as found:
        cube = found.facets.cube(QueueFilter(facets=wanted))
    counts = {facet.value: dict(sorted(numbers.items())) for facet, numbers in cube.counts(wanted).items()}
    lines = [counted(cube.total(wanted), "mention", "mentions")]
    for name, numbers in counts.items():
        lines += [name, *(f"  {value or '–':24} {number:>10,}" for value, number in numbers.items())]
    say({"mentions": cube.total(wanted), "facets": counts}, "\n".join(lines), as_json=as_json)


@click.command()
@PROJECT
@click.option(
    "--order",
    type=click.Choice(["uncertain", "diverse"]),
    default="diverse",
    show_default=True,
    help="uncertain: least certain suggestions first. diverse: highest expected value per second of work first.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="List at most N mentions."
)
@WHERE
@FILTER
@AS_JSON
def work(project: ProjectPlace, order: str, limit: int, chosen: tuple[str, ...], named: str, *, as_json: bool) -> None:
    """List the undecided mentions of P in the order in which to decide them."""
    from curator.services.queue.ordering import QueueOrder

    with opened(project, read_only=True) as found:
        where = filter_of(found, chosen, named)
        rows = found.ordering.work(where, QueueOrder(order), length=limit)
        names = {row.document_id: row.external_id for row in found.queue.rows_of([row.document_id for row in rows])}
    table = [{**asdict(row), "external_id": names[row.document_id]} for row in rows]
    text = "\n".join(
        f"{row.mention_id:>9}  {'–' if row.probability is None else f'{row.probability:.2f}':>5}  "
        f"{row.text} · {row.type} · {names[row.document_id]}"
        for row in rows
    )
    say({"mentions": table}, text or "No undecided mentions.", as_json=as_json)


@click.command()
@PROJECT
@click.option("--next", "take", is_flag=True, help="Get the next document for yourself, or the one that you have.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, 24 * 60, min_open=True),
    default=MINUTES,
    show_default=True,
    metavar="N",
    help="With --next: how long nobody else gets it. Your decisions in it prolong this.",
)
@click.option("--give-back", type=int, metavar="ID", help="Let others have this document.")
@CURATOR
@AS_JSON
def claims(
    project: ProjectPlace, *, take: bool, minutes: float, give_back: int | None, curator: str, as_json: bool
) -> None:
    """List the documents of a shared project that are handed out, and get the next one with --next.

    Nobody else is given a document that you have, until it is done, you give it back, or the time is over.
    """
    with opened(project, read_only=not take and give_back is None, curator=curator) as found:
        if give_back is not None:
            found.team.give_back(give_back)
        mine = found.team.next(minutes=minutes) if take else None
        held = found.team.claims()
        ids = [one.document_id for one in held] + ([mine] if mine is not None else [])
        names = {row.document_id: row.external_id for row in found.queue.rows_of(ids)}
        opened_ = found.queue.open(mine) if mine is not None else None
        left = [one.mention for one in opened_.mentions if one.decision is None] if opened_ is not None else []
    table = [{**asdict(one), "external_id": names.get(one.document_id, "")} for one in held]
    facts = {"next": mine, "mentions": [{"mention_id": one.id, "text": one.text} for one in left], "claims": table}
    lines = [f"{names.get(one.document_id, '')}: {one.curator}, until {one.until:%H:%M}" for one in held]
    if take and mine is None:
        lines = ["No document is left that nobody else has."]
    elif take:
        lines = [f"Document {mine}, {names.get(mine or 0, '')}", *(f"{one.id:>9}  {one.text}" for one in left)]
    say(facts, "\n".join(lines) or "No document is handed out.", as_json=as_json)


@click.command()
@PROJECT
@AS_JSON
def holdout(project: ProjectPlace, *, as_json: bool) -> None:
    """Measure how much suggestions influence curators.

    Compares how often curators agree with the suggestion when they saw it and when it was held out.
    """
    with opened(project, read_only=True) as found:
        report = found.holdout.report()
    text = (
        f"suggestion held out: {_share(report.without)}\n"
        f"suggestion shown:    {_share(report.seen)}\n"
        f"influence: {'–' if report.sway is None else f'{100 * report.sway:+.1f} percentage points'}"
    )
    say({**asdict(report), "sway": report.sway}, text, as_json=as_json)


def _share(one: Agreement) -> str:
    share = "–" if one.share is None else f"{100 * one.share:.1f} %"
    return f"{one.agreed:,} of {one.decided:,} decisions agree with the suggestion ({share})"


@click.command()
@PROJECT
@click.option(
    "--set",
    "file",
    type=FilePath(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Replace the guidelines with this Markdown file.",
)
@AS_JSON
def guidelines(project: ProjectPlace, file: Path | None, *, as_json: bool) -> None:
    """Show the guidelines of P, or replace them."""
    with opened(project, read_only=file is None) as found:
        if file is not None:
            found.guidelines.set_text(_read(file))
        text = found.guidelines.text()
    said = text if file is None else f"Set the guidelines from {file} ({len(text):,} characters)."
    say({"guidelines": text}, said, as_json=as_json)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text ({error.reason}). Save it as UTF-8 and try again.") from error


# accept: suggestions in bulk, in two steps: draw a sample to check, then accept what the checked sample allows.

FILE = FilePath(path_type=Path, dir_okay=False)


@click.command("accept")
@PROJECT
@click.option("--error", type=click.FloatRange(0, 50, min_open=True), metavar="PERCENT", help="Error that you allow.")
@click.option("--sample-out", type=FILE, metavar="FILE", help="Write the sample to this file for checking.")
@click.option("--checked", type=FILE, metavar="FILE", help="Read the checked sample from this file.")
@click.option("--yes", is_flag=True, help="With --checked: accept the mentions. Without --yes, nothing is changed.")
@click.option(
    "--most-checks",
    type=click.IntRange(min=1),
    default=MOST_CHECKS,
    show_default=True,
    metavar="N",
    help="Draw a sample of at most N mentions.",
)
@click.option(
    "--seed", type=int, metavar="N", help="Random seed, to draw the same sample again. Default: a new sample each time."
)
@WHERE
@FILTER
@CURATOR
@AS_JSON
def accept(
    project: ProjectPlace,
    *,
    error: float | None,
    sample_out: Path | None,
    checked: Path | None,
    yes: bool,
    most_checks: int,
    seed: int | None,
    chosen: tuple[str, ...],
    named: str,
    curator: str,
    as_json: bool,
) -> None:
    """Accept suggestions of P in bulk, with a bound on the error.

    First draw a sample, for example with --error 2 --sample-out FILE. FILE holds the mentions to check, one JSON object
    per line: set "right" to true or false in each.

    Then run the command with --checked FILE. It shows what can be accepted, and accepts it as one step with --yes.
    """
    if (error is None) == (checked is None):
        raise click.UsageError("Give either --error, to draw a sample, or --checked, to read it back.")
    if checked is not None and (chosen or named or seed is not None):
        raise click.UsageError(
            "--checked uses the mentions that the sample was drawn from: leave out --where, --filter and --seed."
        )
    if yes and checked is None:
        raise click.UsageError("--yes requires --checked: nothing is accepted before a sample is checked.")
    with opened(project, read_only=not yes, curator=curator) as found:
        if error is not None:
            where = filter_of(found, chosen, named)
            offer = found.bulk.offer(where, error=error / 100, seed=seed, most_checks=most_checks)
            _say_offer(found, offer, sample_out, as_json=as_json)
        elif checked is not None:
            _say_checks(found, _read_sheet(found, checked), sample_out, yes=yes, as_json=as_json)


def _say_offer(project: Project, offer: BulkOffer, out: Path | None, *, as_json: bool) -> None:
    plan = offer.plan
    facts = {
        "undecided": offer.undecided,
        "unsuggested": offer.unsuggested,
        "calibrated": offer.calibrated,
        "pays": offer.pays,
        "sets": [asdict(one) for one in plan.sets],
        "sample": str(out) if out and plan.sets else None,
    }
    if not plan.sets:
        text = (
            f"At an error of {_percent(plan.error)}, none of the {offer.undecided:,} undecided mentions with a "
            "suggestion can be accepted without a check. Allow a larger error or more checks or decide them one by one."
        )
    else:
        first = plan.sets[0]
        text = (
            f"{first.size:,} of {offer.undecided:,} undecided mentions have suggestions that are certain enough. Check "
            f"{first.checks:,} of them. If at most {first.allowed:,} are wrong, you can accept the other "
            f"{first.saved:,}: at most {_percent(plan.error)} of them are wrong, with 95 % confidence. "
        )
        if not offer.pays:
            text = (
                f"This saves no time: you check {first.checks:,} mentions to accept {first.saved:,}. Deciding all "
                f"{first.size:,} one by one takes about as long.\n{text}"
            )
        text += f"The sample was written to {out}." if out else "--sample-out FILE writes the sample."
        if out:
            project.save_text(out, sheet_of(plan, project.bulk.contexts(plan.samples[0]), {}))
    say(facts, text, as_json=as_json)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _read_sheet(project: Project, path: Path) -> SampleSheet:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} could not be read ({error}). Check its name, its permissions and that it is UTF-8 text."
        ) from error
    sheet = read_sheet(text)
    here = {one.mention_id: (one.external_id, one.text) for one in project.bulk.contexts(tuple(sheet.shown))}
    for mention_id, shown in sheet.shown.items():
        if here.get(mention_id, shown) != shown:
            raise UserError(
                f"Mention {mention_id} is not “{shown[1]}” of document {shown[0]} in this project. The sample is from "
                "another project, or the mention was moved. Draw a new sample."
            )
    return sheet


def _say_checks(project: Project, sheet: SampleSheet, out: Path | None, *, yes: bool, as_json: bool) -> None:
    audit = Audit(sheet.plan, dict(sheet.marks))
    state, report = audit.state, None
    if state is AuditState.CHECKING and out is not None:
        contexts = project.bulk.contexts(tuple(dict.fromkeys((*sheet.marks, *audit.sample))))
        project.save_text(out, sheet_of(sheet.plan, contexts, sheet.marks))
    elif state is not AuditState.CHECKING and yes:
        report = _take(project, sheet, audit)
    right, wrong = tally(audit.marks)
    facts: dict[str, Any] = {
        "standing": state.value,
        "right": right,
        "wrong": wrong,
        "left": len(audit.left),
        "limit": report.limit if report else audit.limit,
        "acceptable": len(audit.accepted()),
        "accepted": report.accepted if report else 0,
        "left_out": report.left_out if report else 0,
        "change": change_facts(report.change) if report and report.change else None,
    }
    say(facts, _checks_text(audit, report, out, yes=yes), as_json=as_json)


def _take(project: Project, sheet: SampleSheet, audit: Audit) -> BulkReport | None:
    """Accept the checked mentions that are right and still undecided, and the unchecked ones if the checks allow it."""
    undecided = {one.mention_id for one in project.bulk.contexts(tuple(sheet.marks)) if one.verdict is None}
    taken = Audit(sheet.plan)
    for mention_id, right in sheet.marks.items():
        if mention_id in undecided:
            project.bulk.check(taken, mention_id, right)
        else:
            taken.mark(mention_id, right)
    return project.bulk.accept(taken) if audit.state is AuditState.PASSED else None


def _checks_text(audit: Audit, report: BulkReport | None, out: Path | None, *, yes: bool) -> str:
    right, wrong = tally(audit.marks)
    found = audit.set
    if found is None:
        rest = f"Accepted the {right:,} that are right." if yes else f"--yes accepts the {right:,} that are right."
        return (
            f"{wrong:,} of {counted(right + wrong, 'checked mention is', 'checked mentions are')} wrong. More than "
            f"{_percent(audit.plan.error)} of the others may be wrong, so none is accepted without a check. {rest}"
        )
    if audit.state is AuditState.CHECKING:
        smaller = f" Only the {found.size:,} most certain mentions are considered now." if audit.number else ""
        where = f"they are in {out}" if out else "--sample-out FILE writes them with your marks so far"
        return f"{wrong:,} wrong.{smaller} Still to check: {len(audit.left):,} ({where}). Nothing was accepted."
    limit, others = (report.limit, report.accepted) if report else (audit.limit, len(audit.accepted()))
    bound = f"at most {percent_up(limit, 2):g} % of the {others:,} others are wrong, with 95 % confidence"
    if report is None:
        return f"{len(audit.sample):,} checked, {audit.wrong:,} wrong: {bound}. --yes accepts them."
    left = f" Left out because they changed in the meantime: {report.left_out:,}." if report.left_out else ""
    accepted = counted(report.accepted, "mention", "mentions")
    return f"Accepted {accepted} as one step: {bound}. `curator undo P` undoes it.{left}"
