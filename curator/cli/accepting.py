"""accept: sure suggestions in bulk, in two steps: a sample to check, and what the checked sample allows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, change_facts, counted, opened, say
from curator.cli.queueing import FILTER, WHERE, filter_of
from curator.domain.errors import UserError
from curator.services.curating.bulk_plan import MOST_CHECKS, Audit, AuditState, tally
from curator.services.curating.bulk_sheet import SampleSheet, read_sheet, sheet_of

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.curating.bulk import BulkOffer, BulkReport

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("accept")
@PROJECT
@click.option("--error", type=click.FloatRange(0, 50, min_open=True), metavar="PERCENT", help="What may be wrong.")
@click.option("--sample-out", type=FILE, metavar="FILE", help="Write the sample there, to mark right or wrong.")
@click.option("--checked", type=FILE, metavar="FILE", help="Read the marked sample back.")
@click.option("--yes", is_flag=True, help="With --checked: accept what the checks allow; otherwise only tell.")
@click.option("--most-checks", type=click.IntRange(min=1), default=MOST_CHECKS, show_default=True, metavar="N")
@click.option("--seed", type=int, metavar="N", help="Draw the same sample again; otherwise a new one each time.")
@WHERE
@FILTER
@CURATOR
@AS_JSON
def accept(
    project: Path,
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
    """Accept the suggestions of P that are sure enough, at an error you can live with.

    First --error 2 --sample-out FILE: FILE holds the mentions to check, a line of JSON each; write true or false for
    "right". Then --checked FILE tells what that allows, and with --yes accepts it as one step.
    """
    if (error is None) == (checked is None):
        raise click.UsageError("Give either --error, to draw a sample, or --checked, to read it back.")
    if checked is not None and (chosen or named or seed is not None):
        raise click.UsageError("--checked is about what the sample was drawn from; no other choice goes with it.")
    if yes and checked is None:
        raise click.UsageError("--yes goes with --checked: nothing is accepted before a sample is checked.")
    with opened(project, read_only=not yes, curator=curator) as found:
        if error is not None:
            where = filter_of(found, chosen, named)
            offer = found.bulk.offer(where, error=error / 100, seed=seed, most_checks=most_checks)
            _say_offer(found, offer, sample_out, as_json=as_json)
        elif checked is not None:
            _say_checks(found, _read(found, checked), sample_out, yes=yes, as_json=as_json)


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
            f"Of {offer.undecided:,} undecided mentions with a suggestion none can be accepted unseen at "
            f"{plan.error:.1%}. Choose a larger error, allow more checks, or decide them one by one."
        )
    else:
        first = plan.sets[0]
        text = (
            f"{first.size:,} of {offer.undecided:,} undecided mentions are sure enough. Check {first.checks:,} of "
            f"them; with no more than {first.allowed:,} wrong, the other {first.saved:,} can be accepted: at most "
            f"{plan.error:.1%} wrong, with 95 % confidence. "
        )
        if not offer.pays:
            text = (
                f"This does not pay: you check {first.checks:,} mentions to gain {first.saved:,}. Deciding all "
                f"{first.size:,} one by one costs about the same.\n{text}"
            )
        text += f"The sample is in {out}." if out else "--sample-out FILE writes them."
        if out:
            project.save_text(out, sheet_of(plan, project.bulk.contexts(plan.samples[0]), {}))
    say(facts, text, as_json=as_json)


def _read(project: Project, path: Path) -> SampleSheet:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}).") from error
    sheet = read_sheet(text)
    here = {one.mention_id: (one.external_id, one.text) for one in project.bulk.contexts(tuple(sheet.shown))}
    for mention_id, shown in sheet.shown.items():
        if here.get(mention_id, shown) != shown:
            raise UserError(
                f"Mention {mention_id} is not “{shown[1]}” of {shown[0]} in this project: the sample is of another, "
                "or the mention was moved. Draw a new sample."
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
        "limit": audit.limit,
        "acceptable": len(audit.accepted()),
        "accepted": report.accepted if report else 0,
        "left_out": report.left_out if report else 0,
        "change": change_facts(report.change) if report and report.change else None,
    }
    say(facts, _checks_text(audit, report, out, yes=yes), as_json=as_json)


def _take(project: Project, sheet: SampleSheet, audit: Audit) -> BulkReport | None:
    """Decide what was found right and is still open; accept the rest where the checks allow it, as one step."""
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
        rest = "are decided now" if yes else "are decided with --yes"
        return (
            f"{wrong:,} of {right + wrong:,} checked were wrong: more than {audit.plan.error:.1%} may be, so nothing "
            f"is accepted unseen. The {right:,} that were found right {rest}."
        )
    if audit.state is AuditState.CHECKING:
        smaller = f"it is about the {found.size:,} surest now; " if audit.number else ""
        where = f"they are in {out}" if out else "--sample-out FILE writes them with the marks so far"
        return f"{wrong:,} wrong: {smaller}{len(audit.left):,} more are to be checked, {where}. Nothing was accepted."
    bound = f"of the {len(audit.accepted()):,} others at most {audit.limit:.1%} are wrong, with 95 % confidence"
    if report is None:
        return f"{len(audit.sample):,} checked, {audit.wrong:,} wrong: {bound}. --yes accepts them."
    left = f" {report.left_out:,} that changed meanwhile were left out." if report.left_out else ""
    accepted = counted(report.accepted, "mention", "mentions")
    return f"Accepted {accepted} in one step; `curator undo P` takes it back: {bound}.{left}"
