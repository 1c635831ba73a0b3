"""The preview of a training in words: its training data, evaluation data and duration."""

from __future__ import annotations

from curator.domain.wording import ntr, tr
from curator.services.training.retraining import TrainingPreview
from curator.ui.jobs.jobs import range_words

FIRST_RUN = "Once training runs, the remaining time is measured and shown within 20 seconds."
LAST_RUN = "The last training with this recipe here took {time}. The remaining time is shown while it runs."


def learns_words(preview: TrainingPreview) -> str:
    """The training data, the evaluation data, and the excluded documents."""
    if preview.in_turn:
        return tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} training and validation "
            "documents; each document is evaluated with weights fitted on the others. The "
            "{test_documents:,} test documents are never used.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            test_documents=preview.test_documents,
        )
    lines = [
        tr(
            "{links:,} links and {nils:,} NIL decisions in {documents:,} training documents, "
            "{entities:,} different entities.",
            links=preview.links,
            nils=preview.nils,
            documents=preview.documents,
            entities=preview.entities,
        )
        if preview.nils
        else tr(
            "{links:,} links in {documents:,} training documents, {entities:,} different entities.",
            links=preview.links,
            documents=preview.documents,
            entities=preview.entities,
        )
    ]
    if preview.left_out:
        lines.append(
            ntr(
                "Training uses links only: {n} NIL decision is left out.",
                "Training uses links only: {n:,} NIL decisions are left out.",
                preview.left_out,
            )
        )
    if preview.passed_over:
        lines.append(
            ntr(
                "{n} candidate that was shown but not chosen, as a hard negative.",
                "{n:,} candidates that were shown but not chosen, as hard negatives.",
                preview.passed_over,
            )
        )
    if preview.outside:
        lines.append(
            ntr(
                "{n} linked entity is not in the knowledge base; its links are not used.",
                "{n:,} linked entities are not in the knowledge base; their links are not used.",
                preview.outside,
            )
        )
    return "\n".join([*lines, judges_words(preview)])


def judges_words(preview: TrainingPreview) -> str:
    """The evaluation data."""
    return (
        tr(
            "No validation document has decisions: a fifth of these documents is held out to evaluate "
            "the result. The {test_documents:,} test documents are never used.",
            test_documents=preview.test_documents,
        )
        if not preview.validation_decisions
        else tr(
            "Evaluated on {validation_decisions:,} decisions in {validation_documents:,} validation "
            "documents{judged_words}. The {test_documents:,} test documents are never used.",
            validation_decisions=preview.validation_decisions,
            validation_documents=preview.validation_documents,
            judged_words=judged_words(preview),
            test_documents=preview.test_documents,
        )
    )


def judged_words(preview: TrainingPreview) -> str:
    """A note if a quick recipe is evaluated on fewer mentions."""
    return (
        tr(", using {judged_at_most} of their links", judged_at_most=preview.judged_at_most)
        if preview.judged_at_most
        else ""
    )


def time_words(preview: TrainingPreview) -> str:
    """What the last run took."""
    if not preview.seconds:
        return tr(FIRST_RUN)
    return tr(LAST_RUN, time=range_words(preview.seconds, preview.seconds))
