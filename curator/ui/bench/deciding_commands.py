"""Commands of the deciding loop: undo, mentions and their decisions, many at once, the guidelines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState
from curator.domain.decisions import Outcome

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench


def _deciding(state: WindowState) -> bool:
    return state.writable and state.mention and not state.drafting


def _document(state: WindowState) -> bool:
    return state.document


def _choose(rank: int) -> Command[Workbench]:
    return Command(
        f"mention.choose{rank}",
        f"Choose candidate {rank}",
        Menu.MENTION,
        f"Links the mention to the candidate with rank {rank}.",
        lambda bench: bench.many.press(partial(bench.decider.choose, rank)),
        (str(rank),),
        when=lambda state: _deciding(state) and state.candidates >= rank,
        group=1,
        hidden=True,
        in_rounds=True,
    )


def _also(rank: int) -> Command[Workbench]:
    return Command(
        f"mention.also{rank}",
        f"Also link to candidate {rank}",
        Menu.MENTION,
        f"Adds the candidate with rank {rank} to a link of several entities, or removes it; stays at this mention.",
        lambda bench: bench.decider.also_rank(rank),
        (f"Shift+{rank}",),
        when=lambda state: _deciding(state) and state.candidates >= rank,
        group=1,
        hidden=True,
        in_rounds=True,
    )


def _and_list(outcome: Outcome, key: str, title: str, words: str) -> Command[Workbench]:
    return Command(
        f"mention.others_{outcome.value}",
        title,
        Menu.MENTION,
        words,
        lambda bench: bench.many.list_all(outcome),
        (key,),
        when=_deciding,
        group=4,
    )


DECIDING: tuple[Command[Workbench], ...] = (
    Command(
        "edit.undo",
        "Undo",
        Menu.EDIT,
        "Undoes the last decision, or the last change of a mention or of a document state, across "
        "documents and restarts.",
        lambda bench: bench.decider.undo(),
        ("Ctrl+Z",),
        when=lambda s: s.writable and s.can_undo,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "edit.redo",
        "Redo",
        Menu.EDIT,
        "Restores the last change that you undid.",
        lambda bench: bench.decider.redo(),
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        when=lambda s: s.writable and s.can_redo,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "mention.next",
        "Next mention",
        Menu.MENTION,
        "Goes to the next mention in the text.",
        lambda bench: bench.navigator.step(1),
        ("Down", "J"),
        when=_document,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "mention.previous",
        "Previous mention",
        Menu.MENTION,
        "Goes to the previous mention in the text.",
        lambda bench: bench.navigator.step(-1),
        ("Up", "K"),
        when=_document,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "mention.undecided",
        "Next undecided mention",
        Menu.MENTION,
        "Goes to the next undecided mention, in the next document if this one has none left.",
        lambda bench: bench.navigator.next_undecided(),
        ("Tab",),
        when=_document,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "mention.accept",
        "Accept first suggestion",
        Menu.MENTION,
        "Links the mention to the first candidate, or marks it as NIL if the suggestion is NIL. If NIL is suggested or "
        "more probable, or the first candidate is improbable, you have to press it twice.",
        lambda bench: bench.many.press(partial(bench.decider.choose, 0)),
        ("Return", "Enter"),
        when=lambda s: _deciding(s) and not s.shuffled and (s.candidates > 0 or s.nil_suggested),
        group=1,
        in_rounds=True,
    ),
    *(_choose(rank) for rank in range(1, 10)),
    *(_also(rank) for rank in range(1, 10)),
    Command(
        "mention.nil",
        "Mark as NIL",
        Menu.MENTION,
        "Marks the mention as NIL: the knowledge base has no such entity. Press one more key to give the reason.",
        lambda bench: bench.ask_reason(Outcome.NIL),
        ("N",),
        when=_deciding,
        group=1,
        in_rounds=True,
    ),
    Command(
        "mention.nil_usual",
        "NIL, not in the knowledge base",
        Menu.MENTION,
        "Marks the mention as NIL with the usual reason, without asking for it.",
        lambda bench: bench.many.usual(Outcome.NIL),
        ("0",),
        when=_deciding,
        group=1,
        hidden=True,
        in_rounds=True,
    ),
    Command(
        "mention.reject",
        "Reject mention",
        Menu.MENTION,
        "Rejects the mention: it does not name an entity or has the wrong span. Press one more key to give the reason.",
        lambda bench: bench.ask_reason(Outcome.REJECTED),
        ("X",),
        when=_deciding,
        group=1,
        in_rounds=True,
    ),
    Command(
        "mention.skip",
        "Skip mention",
        Menu.MENTION,
        "Leaves the mention for someone else. Press one more key to give the reason.",
        lambda bench: bench.ask_reason(Outcome.SKIPPED),
        ("S",),
        when=_deciding,
        group=1,
        in_rounds=True,
    ),
    Command(
        "mention.clear",
        "Clear decision",
        Menu.MENTION,
        "Makes the mention undecided again; the history keeps the decision.",
        lambda bench: bench.decider.clear(),
        ("Backspace",),
        when=lambda s: _deciding(s) and s.decided,
        group=1,
        in_rounds=True,
    ),
    Command(
        "mention.others",
        "Mentions of this string…",
        Menu.MENTION,
        "Lists this mention, if it is undecided, and the others of the same string in context. Press the key again "
        "there to give the ticked ones the decision of this mention, or its first suggestion, in one step.",
        lambda bench: bench.many.list_all(),
        ("Shift+Return", "Shift+Enter"),
        when=lambda s: _deciding(s) and (s.decided or s.candidates > 0 or s.nil_suggested),
        group=4,
    ),
    _and_list(
        Outcome.NIL,
        "Shift+N",
        "Mark mentions of this string as NIL…",
        "Lists this mention and the others of its string. Shift+Enter there marks the ticked ones as NIL, not in the "
        "knowledge base.",
    ),
    _and_list(
        Outcome.REJECTED,
        "Shift+X",
        "Reject mentions of this string…",
        "Lists this mention and the others of its string. Shift+Enter there rejects the ticked ones as not an entity.",
    ),
    _and_list(
        Outcome.SKIPPED,
        "Shift+S",
        "Skip mentions of this string…",
        "Lists this mention and the others of its string. Shift+Enter there skips the ticked ones as unsure.",
    ),
    Command(
        "mention.flag",
        "Flag mention",
        Menu.MENTION,
        "Flags the mention or removes its flag. The facets find flagged mentions.",
        lambda bench: bench.noter.flag_mention(),
        ("F",),
        when=lambda s: s.writable and s.mention,
        group=4,
    ),
    Command(
        "mention.comment",
        "Comment on mention…",
        Menu.MENTION,
        "Adds a comment on the mention for others, with your name and the time.",
        lambda bench: bench.ask_comment(on_document=False),
        ("C",),
        when=lambda s: s.writable and s.mention,
        group=4,
    ),
    Command(
        "view.pane",
        "Next part of the window",
        Menu.VIEW,
        "Moves the keyboard from the text to the queue, the candidates, the search and back.",
        lambda bench: bench.next_pane(),
        ("F6",),
        when=lambda s: s.project,
        group=2,
    ),
    Command(
        "view.guidelines",
        "Guidelines",
        Menu.VIEW,
        "Shows the project's guidelines next to the text, to read and edit. Use it again to hide them.",
        lambda bench: bench.guidelines.toggle(),
        ("G",),
        when=lambda s: s.project,
        group=2,
    ),
)
