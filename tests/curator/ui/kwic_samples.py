"""Mentions in invented contexts for the tests of the panels below the text."""

from __future__ import annotations

from curator.domain.decisions import Verdict
from curator.services.curating.propagation import Group, GroupKind, Line, Others, PropagationScope
from curator.services.ports.queue import Chance, Head, MentionContext


def context(
    mention_id: int, *, document: int = 1, first: str = "Tacrolimus", verdict: Verdict | None = None
) -> MentionContext:
    head = Head("MESH:D016559", first, 0.9, 0.97, 0.01, False, True, "", "b", True)
    return MentionContext(
        mention_id, document, f"90{document}", 10, "patients on\n", "FK506", " had acute", "Chemical", verdict, "", head
    )


def others(*, beyond: int = 0, scope: PropagationScope = PropagationScope.PROJECT) -> Others:
    """Three ticked or not in the first group, one in the second; ids 2 to 5."""
    alike = Group(
        GroupKind.ALIKE,
        "same suggestion",
        (
            Line(context(2)),
            Line(context(3, document=2)),
            Line(context(4), "no words of context in common with the others"),
        ),
    )
    other = Group(GroupKind.OTHER_SUGGESTION, "suggested: Sirolimus", (Line(context(5), "suggested: Sirolimus"),))
    return Others(
        this=context(1),
        verdict=Verdict.link("MESH:D016559"),
        scope=scope,
        groups=(alike, other),
        names=("Tacrolimus",),
        beyond=beyond,
    )


def chances(number: int) -> list[Chance]:
    return [Chance(one, 1, 0.999, "MESH:D016559") for one in range(1, number + 1)]
