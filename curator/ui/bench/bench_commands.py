"""Commands of the workbench: deciding, candidates, the queue, the text, and what is recorded beside links.

No key of the text holds Alt and Shift together, which switches keyboards or moves windows on many desktops.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState
from curator.domain.decisions import Outcome
from curator.domain.documents import slice_spans

if TYPE_CHECKING:
    from curator.ui.bench.attribute_desk import AttributeDesk
    from curator.ui.bench.workbench import Workbench


# The deciding loop: undo, mentions and their decisions, many at once, the guidelines.


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

# The candidates, the search in the knowledge base and its hierarchy.


CANDIDATES: tuple[Command[Workbench], ...] = (
    Command(
        "mention.contrast",
        "Compare the first two candidates",
        Menu.MENTION,
        "Shows the first two candidates side by side with the words of the text that support each. Use "
        "it again to go back.",
        lambda bench: bench.desk.toggle_contrast(),
        ("V",),
        when=lambda s: s.mention and s.candidates > 1 and not s.shuffled,
        group=2,
        in_rounds=True,
    ),
    Command(
        "mention.tint",
        "Tint the distinguishing words",
        Menu.MENTION,
        "Tints the words of the text by the candidate they support. Hover over a word to see the number.",
        lambda bench: bench.desk.toggle_tints(),
        ("Shift+V",),
        when=lambda s: s.mention and s.candidates > 1 and not s.shuffled,
        group=2,
        in_rounds=True,
    ),
    Command(
        "mention.hidden",
        "Show hidden candidates",
        Menu.MENTION,
        "Shows or hides the candidates below the limit and those of other types; also shows suggestions "
        "that are held back.",
        lambda bench: bench.desk.toggle_hidden(),
        ("H",),
        when=lambda s: s.mention,
        group=2,
        in_rounds=True,
    ),
    Command(
        "mention.search",
        "Search knowledge base",
        Menu.MENTION,
        "Searches names, synonyms, identifiers and definitions.",
        lambda bench: bench.start_search(),
        ("/",),
        when=lambda s: s.knowledge_base,
        group=2,
        in_rounds=True,
    ),
    Command(
        "mention.search_text",
        "Search for the mention's text",
        Menu.MENTION,
        "Searches the knowledge base for the text of the mention.",
        lambda bench: bench.search_text(),
        ("Space",),
        when=lambda s: s.knowledge_base and s.mention,
        group=2,
        in_rounds=True,
    ),
    Command(
        "mention.search_also",
        "Link to several entities…",
        Menu.MENTION,
        "Searches for one more entity and adds it to the link, for a mention that names several at once.",
        lambda bench: bench.start_search(adding=True),
        ("+",),
        when=lambda s: s.writable and s.mention and s.knowledge_base,
        group=2,
        in_rounds=True,
    ),
    Command(
        "tools.branches",
        "Restrict to branches…",
        Menu.TOOLS,
        "Restricts candidates and search, for mentions of this type or in the whole project, to the highlighted entity "
        "and what is below it, or lifts the restriction.",
        lambda bench: bench.hierarchy.ask_branches(),
        when=lambda s: s.writable and s.mention and s.knowledge_base and not s.judging,
        group=2,
    ),
    Command(
        "view.hierarchy",
        "Browse the hierarchy",
        Menu.VIEW,
        "Shows the knowledge base as a tree, opened at the highlighted entity; again, goes back to the candidates.",
        lambda bench: bench.hierarchy.turn(),
        ("Y", "Ctrl+T"),
        when=lambda s: s.knowledge_base,
        group=2,
    ),
)

# The queue: opening documents, their states, notes on them, facets and orders.


def _project(state: WindowState) -> bool:
    return state.project


def _noting(state: WindowState) -> bool:
    return state.writable and state.document


QUEUE: tuple[Command[Workbench], ...] = (
    Command(
        "queue.next",
        "Next document",
        Menu.QUEUE,
        "Opens the next document of the queue.",
        lambda bench: bench.navigator.step_document(1),
        ("PgDown",),
        when=_project,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "queue.previous",
        "Previous document",
        Menu.QUEUE,
        "Opens the previous document of the queue.",
        lambda bench: bench.navigator.step_document(-1),
        ("PgUp",),
        when=_project,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "queue.done",
        "Mark document as done",
        Menu.QUEUE,
        "Marks the document as done and opens the next one; asks first if mentions are undecided. "
        "Reopens a document that is done.",
        lambda bench: bench.decider.mark_done(anyway=False),
        ("Ctrl+Return", "Ctrl+Enter"),
        when=_noting,
        group=1,
        in_rounds=True,
    ),
    Command(
        "queue.done_anyway",
        "Mark document as done, rest undecided",
        Menu.QUEUE,
        "Marks the document as done without asking; undecided mentions stay undecided.",
        lambda bench: bench.decider.mark_done(anyway=True),
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.filter",
        "Filter queue",
        Menu.QUEUE,
        "Puts the cursor into the queue's filter.",
        lambda bench: bench.queue.focus_filter(),
        ("Ctrl+L",),
        when=_project,
        group=1,
    ),
    Command(
        "queue.discuss",
        "Needs discussion",
        Menu.QUEUE,
        "Marks the document as needing discussion, so that it is not done. Use it again to set it back to in progress.",
        lambda bench: bench.noter.discuss(),
        ("D",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.flag",
        "Flag document",
        Menu.QUEUE,
        "Flags the document or removes its flag.",
        lambda bench: bench.noter.flag_document(),
        ("Shift+F",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.comment",
        "Comment on document…",
        Menu.QUEUE,
        "Adds a comment on the document for others, with your name and the time.",
        lambda bench: bench.ask_comment(on_document=True),
        ("Shift+C",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.facets",
        "Facets",
        Menu.QUEUE,
        "Moves to the facets. Space turns one on; you then step only through mentions that match. Use "
        "it again to fold the facets.",
        lambda bench: bench.queue.focus_facets(),
        ("Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.clear",
        "Show everything",
        Menu.QUEUE,
        "Clears all filters of the queue.",
        lambda bench: bench.queue.clear(),
        ("Shift+Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.order",
        "Next queue order",
        Menu.QUEUE,
        "Orders the queue by document, by expected value per second of work, or by the least certain suggestion.",
        lambda bench: bench.queue.step_order(),
        ("O",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.bulk",
        "Accept in bulk…",
        Menu.QUEUE,
        "Accepts the most confident suggestions in the queue after you check a sample that bounds their error rate.",
        lambda bench: bench.many.accept_in_bulk(),
        ("Ctrl+B",),
        when=lambda s: s.writable and s.knowledge_base,
        group=3,
    ),
)

# The text: find, move the caret, and change the spans and types of mentions.


def _editing(state: WindowState) -> bool:
    return state.writable and state.mention and not state.judging


def _selecting(state: WindowState) -> bool:
    return _editing(state) and state.selection


def _toggle_caret(bench: Workbench) -> None:
    bench.focus_document()
    bench.document.set_caret_mode(not bench.document.caret_mode)


def _create(bench: Workbench) -> None:
    selection, opened = bench.document.selection, bench.navigator.opened
    if selection is not None and opened is not None:
        words, place = slice_spans(opened.document.text, [selection]), bench.document.below(selection)
        types = bench.known_types()
        bench.types.ask(words, types, at=place, guess=bench.likely_type.of(words, types), usual=bench.usual_type)


def _nudge(name: str, title: str, key: str, edge: str, direction: int, unit: str) -> Command[Workbench]:
    def run(bench: Workbench) -> None:
        from curator.ui.bench.mention_editor import Edge  # imported with the project, after the first paint

        bench.text.editor.nudge(Edge(edge), forward=direction > 0, by_word=unit == "word")

    words = f"Moves the {edge} of the mention one {unit} {'later' if direction > 0 else 'earlier'}."
    hidden = unit == "character"  # the menu has the word-wise commands; the character-wise ones have only keys
    return Command(
        f"edit.{name}", title, Menu.EDIT, words, run, (key,), when=_editing, group=4, hidden=hidden, repeats=True
    )


TEXT: tuple[Command[Workbench], ...] = (
    Command(
        "edit.find",
        "Find in the document…",
        Menu.EDIT,
        "Highlights every match of the words you type. Enter and Shift+Enter go to the next and the "
        "previous match; Esc returns to the text with the match selected.",
        lambda bench: bench.text.find(),
        ("Ctrl+F",),
        when=_document,
        group=2,
        in_rounds=True,
    ),
    Command(
        "edit.find_next",
        "Find next",
        Menu.EDIT,
        "Goes to the next match.",
        lambda bench: bench.text.find_beside(1),
        ("F3",),
        when=_document,
        group=2,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "edit.find_previous",
        "Find previous",
        Menu.EDIT,
        "Goes to the previous match.",
        lambda bench: bench.text.find_beside(-1),
        ("Shift+F3",),
        when=_document,
        group=2,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "edit.caret",
        "Caret in the text",
        Menu.EDIT,
        "Puts a caret at the mention; arrows, Home and End move it, Shift selects, Esc leaves.",
        _toggle_caret,
        ("F7",),
        when=_document,
        group=2,
        in_rounds=True,
    ),
    Command(
        "edit.retype",
        "Change the type…",
        Menu.EDIT,
        "Asks for a new type for the mention and keeps its decision.",
        lambda bench: bench.text.retype(bench.known_types(), bench.likely_type.of),
        ("T",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.add_part",
        "Add the selection to the mention",
        Menu.EDIT,
        "Adds the selected text to the mention as a further part, which need not be adjacent to it.",
        lambda bench: bench.text.editor.add_part(),
        ("A",),
        when=_selecting,
        group=3,
    ),
    Command(
        "edit.take_out",
        "Remove the selection from the mention",
        Menu.EDIT,
        "Removes the selected words from the mention, which may split it; without a selection, removes "
        "the part with the caret.",
        lambda bench: bench.text.editor.take_out(),
        ("Shift+A",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.join_parts",
        "Join the parts",
        Menu.EDIT,
        "Joins the mention's parts into one, including the words between them.",
        lambda bench: bench.text.editor.join_parts(),
        ("Ctrl+J",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.join_next",
        "Join with the next mention",
        Menu.EDIT,
        "Joins this mention and the next one; undo separates them again.",
        lambda bench: bench.text.editor.join_next(),
        ("Ctrl+Shift+J",),
        when=_editing,
        group=3,
    ),
    _nudge("end_later", "End a word later", "Alt+Right", "end", 1, "word"),
    _nudge("end_earlier", "End a word earlier", "Alt+Left", "end", -1, "word"),
    _nudge("start_earlier", "Start a word earlier", "Alt+Up", "start", -1, "word"),
    _nudge("start_later", "Start a word later", "Alt+Down", "start", 1, "word"),
    _nudge("end_right", "End a character later", "Alt+.", "end", 1, "character"),
    _nudge("end_left", "End a character earlier", "Alt+,", "end", -1, "character"),
    _nudge("start_left", "Start a character earlier", ",", "start", -1, "character"),
    _nudge("start_right", "Start a character later", ".", "start", 1, "character"),
    Command(
        "mention.create",
        "Add mention",
        Menu.MENTION,
        "Marks the selected text as a mention and asks for its type.",
        _create,
        ("M",),
        when=lambda s: s.writable and s.selection,
        group=3,
        in_rounds=True,
    ),
    Command(
        "mention.delete",
        "Delete mention",
        Menu.MENTION,
        "Deletes the mention; undo brings it back with its decisions.",
        lambda bench: bench.decider.delete_mention(),
        ("Del",),
        when=lambda s: s.writable and s.mention,
        group=3,
    ),
    Command(
        "annotate.relate",
        "Start or end a relation",
        Menu.ANNOTATE,
        "Starts a relation at the mention; used again at another mention, asks for its type and adds it. At the same "
        "mention, it cancels.",
        lambda bench: bench.relations.start_or_end(),
        ("R",),
        when=_editing,
        group=2,
    ),
    Command(
        "annotate.relate_entities",
        "End the relation between entities",
        Menu.ANNOTATE,
        "Like the command before, but the relation is between the entities that the two mentions are linked to.",
        lambda bench: bench.relations.start_or_end(entities=True),
        ("Shift+R",),
        when=_editing,
        group=2,
    ),
    Command(
        "annotate.relations",
        "Relations of the document…",
        Menu.ANNOTATE,
        "Shows the relations of the document next to the text, those of the mention first. Enter goes to a mention, "
        "Del deletes a relation. Use it again to hide them.",
        lambda bench: bench.relations.toggle_panel(),
        ("W",),
        when=lambda s: s.document,
        group=2,
    ),
    Command(
        "view.relations",
        "Relations in the text",
        Menu.VIEW,
        "Draws lines between related mentions, dashed between entities. Use it again to hide them.",
        lambda bench: bench.relations.toggle_lines(),
        ("Shift+W",),
        when=lambda s: s.document,
        group=2,
    ),
)

# Data recorded for mentions in addition to links.


ANNOTATE: tuple[Command[AttributeDesk], ...] = (
    Command(
        "annotate.attributes",
        "Attributes of the mention…",
        Menu.ANNOTATE,
        "Shows the attributes of the mention, such as negation. Press the letter of an attribute, then the digit of a "
        "value to set it; the digit of the value it has clears it.",
        lambda annotating: annotating.ask(),
        ("L",),
        when=lambda s: s.writable and s.mention,
        in_rounds=True,
    ),
    Command(
        "annotate.everywhere",
        "Attributes of identical mentions…",
        Menu.ANNOTATE,
        "Asks for an attribute and a value, and lists the other mentions of the same string. Shift+Enter sets the "
        "value of this mention and of the ticked ones in one step.",
        lambda annotating: annotating.ask_all(),
        ("Shift+L",),
        when=lambda s: s.writable and s.mention,
    ),
    Command(
        "annotate.scheme",
        "Attributes of the project…",
        Menu.ANNOTATE,
        "Defines the attributes that mentions of this project can have, their values, and the mention types that have "
        "them.",
        lambda annotating: annotating.define(),
        when=lambda s: s.project,
    ),
)
