"""Curators who decide independently: rounds and their files, agreement, adjudication.

* **A round replaces the project.** `RoundSeat` holds a queue, a curation and a source of suggestions with the
  interfaces of the project's own; the navigator and the decider work with them, so keys, undo and panes need no special
  code. The seat lacks actions that are impossible in a round, and gives the reason. Judgements are stored in a separate
  table, are not sent on the event bus (the memory must not get them), and are undone by their rows.
* **A mention made in a round is among the deleted ones** until adjudication decides it: no one else sees it, no counter
  counts it, and the linker does not link it. Adjudicated decisions are ordinary ones whose note begins with the round.
* **Suggestions in a round do not use decisions in the same document** (`own=False`), so they cannot reveal one.
"""
