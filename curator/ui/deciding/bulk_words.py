"""What bulk acceptance says of its plan, its checks and its bound; whole sentences."""

from __future__ import annotations

from curator.domain.wording import tr
from curator.services.curating.bulk import BulkOffer, BulkReport
from curator.services.curating.bulk_plan import Audit, AuditState, tally
from curator.ui.kit.key_names import way_to

WAITING = "Reckoning…"
NOTHING = "No undecided mention that the queue shows has a current suggestion of an entity."
TOO_FEW = (
    "Of {undecided:,} undecided mentions with a suggestion none can be accepted unseen at {error:g} %: too few are "
    "sure enough, or nearly all would have to be checked. Choose a larger error, allow more checks, or decide them one "
    "by one."
)
OFFER = (
    "{size:,} of {undecided:,} undecided mentions are sure enough. Check {checks:,} of them, drawn at random; with "
    "no more than {allowed:,} wrong, the other {rest:,} can be accepted: at most {error:g} % wrong, with 95 % "
    "confidence."
)
NO_GAIN = (
    "This does not pay: you check {checks:,} mentions to gain {saved:,}. Deciding all {size:,} one by one costs about "
    "the same."
)
HELD_OUT = "Of {tried:,} validation mentions suggested this surely {wrong:,} were wrong."
UNCALIBRATED = "The probabilities are not calibrated on this project, so the sample alone decides."
UNSUGGESTED = "{number:,} more have no current suggestion yet."
CHECKING = "{done:,} of {checks:,} checked, {wrong:,} wrong"
DONE = "{done:,} checked, {wrong:,} wrong"
SHRUNK = (
    "Too many of the larger set were wrong: now it is about the {size:,} surest, of which {rest:,} can be accepted. "
    "What you checked of them counts."
)
PASSED = (
    "{checks:,} checked, {wrong:,} wrong: of the {rest:,} others at most {limit:.1f} % are wrong, with 95 % "
    "confidence. Shift+Enter accepts them."
)
FAILED = (
    "{wrong:,} of {done:,} checked were wrong: more than {error:g} % may be, so nothing is accepted unseen. The "
    "{right:,} that you found right are decided."
)
ACCEPTED = "Accepted {number:,} mentions in one step; {undo} takes it back."
LEFT_OUT = " {number:,} whose suggestion changed meanwhile were left out."


def offer_words(offer: BulkOffer) -> str:
    """What could be accepted and what has to be done for it."""
    error = offer.plan.error * 100
    if not offer.undecided:
        words = tr(NOTHING)
    elif not offer.plan.sets:
        words = tr(TOO_FEW, undecided=offer.undecided, error=error)
    else:
        first = offer.plan.sets[0]
        words = tr(
            OFFER,
            size=first.size,
            undecided=offer.undecided,
            checks=first.checks,
            allowed=first.allowed,
            rest=first.saved,
            error=error,
        )
        if not offer.pays:
            words = f"{tr(NO_GAIN, checks=first.checks, saved=first.saved, size=first.size)}\n{words}"
    return " ".join([words, *_remarks(offer)])


def _remarks(offer: BulkOffer) -> list[str]:
    tried, wrong = offer.plan.held_out
    remarks = [tr(UNSUGGESTED, number=offer.unsuggested)] if offer.unsuggested else []
    if not offer.plan.sets:
        return remarks
    if not offer.calibrated:
        return [*remarks, tr(UNCALIBRATED)]
    return [*remarks, tr(HELD_OUT, tried=tried, wrong=wrong)] if tried else remarks


def outcome_words(audit: Audit) -> str:
    """What the checked sample allows; '' while it is checked."""
    found = audit.set
    right, wrong = tally(audit.marks)
    if found is None:
        return tr(FAILED, wrong=wrong, done=right + wrong, error=audit.plan.error * 100, right=right)
    if audit.state is AuditState.PASSED:
        rest = len(audit.accepted())
        return tr(PASSED, checks=found.checks, wrong=audit.wrong, rest=rest, limit=audit.limit * 100)
    return tr(SHRUNK, size=found.size, rest=found.saved) if audit.number else ""


def audit_words(audit: Audit) -> str:
    """How far the checks are, in a few words."""
    found = audit.set
    if found is None:
        right, wrong = tally(audit.marks)
        return tr(DONE, done=right + wrong, wrong=wrong)
    done = len(audit.sample) - len(audit.left)
    return tr(CHECKING, done=done, checks=found.checks, wrong=audit.wrong)


def chance_words(probability: float) -> str:
    """In per cent; never all of them."""
    return "> 99.9 %" if probability > 0.999 else f"{probability * 100:.1f} %"


def report_words(report: BulkReport) -> str:
    words = tr(ACCEPTED, number=report.accepted, undo=way_to("edit.undo"))
    return words + tr(LEFT_OUT, number=report.left_out) if report.left_out else words
