"""Commands of the deciding loop: undo, mentions and the queue."""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowActions, WindowState


def _deciding(state: WindowState) -> bool:
    return state.writable and state.mention


def _document(state: WindowState) -> bool:
    return state.document


def _choose(rank: int) -> Command:
    def run(window: WindowActions) -> None:
        window.choose(rank)

    return Command(
        f"mention.choose{rank}",
        f"Choose candidate {rank}",
        Menu.MENTION,
        f"Links the mention to the candidate with rank {rank}.",
        run,
        (str(rank),),
        lambda state: _deciding(state) and state.candidates >= rank,
        group=1,
        hidden=True,
    )


def _also(rank: int) -> Command:
    def run(window: WindowActions) -> None:
        window.link_also(rank)

    return Command(
        f"mention.also{rank}",
        f"Also link to candidate {rank}",
        Menu.MENTION,
        f"Adds the candidate with rank {rank} to a link of several entities, or takes it out again; stays here.",
        run,
        (f"Shift+{rank}",),
        lambda state: _deciding(state) and state.candidates >= rank,
        group=1,
        hidden=True,
    )


EDIT = (
    Command(
        "edit.undo",
        "Undo",
        Menu.EDIT,
        "Takes back the last decision, mention or document state, across documents and restarts.",
        lambda w: w.undo(),
        ("Ctrl+Z",),
        lambda s: s.writable and s.can_undo,
    ),
    Command(
        "edit.redo",
        "Redo",
        Menu.EDIT,
        "Does again what was taken back.",
        lambda w: w.redo(),
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        lambda s: s.writable and s.can_redo,
    ),
    Command(
        "edit.settings",
        "Settings…",
        Menu.EDIT,
        "Curator's name, language, colours, font size, device and encoder.",
        lambda w: w.edit_settings(),
        ("Ctrl+,",),
        group=1,
    ),
    Command(
        "edit.shortcuts",
        "Shortcuts…",
        Menu.EDIT,
        "Lists the keys of every command, changes them, and shows which belong to several.",
        lambda w: w.edit_shortcuts(),
        (),
        group=1,
    ),
)

MENTION = (
    Command(
        "mention.next",
        "Next mention",
        Menu.MENTION,
        "Goes to the next mention in the text.",
        lambda w: w.step_mention(1),
        ("Down", "J"),
        _document,
    ),
    Command(
        "mention.previous",
        "Previous mention",
        Menu.MENTION,
        "Goes to the previous mention in the text.",
        lambda w: w.step_mention(-1),
        ("Up", "K"),
        _document,
    ),
    Command(
        "mention.undecided",
        "Next undecided mention",
        Menu.MENTION,
        "Goes to the next mention without a decision, in the next document when this one has none left.",
        lambda w: w.next_undecided(),
        ("Tab",),
        _document,
    ),
    Command(
        "mention.accept",
        "Accept first suggestion",
        Menu.MENTION,
        "Links the mention to the first candidate, or marks it NIL where the suggestion says NIL.",
        lambda w: w.choose(0),
        ("Return", "Enter"),
        lambda s: _deciding(s) and not s.shuffled and (s.candidates > 0 or s.nil_suggested),
        group=1,
    ),
    *(_choose(rank) for rank in range(1, 10)),
    *(_also(rank) for rank in range(1, 10)),
    Command(
        "mention.nil",
        "Out of the knowledge base (NIL)",
        Menu.MENTION,
        "Marks that the knowledge base has no such entity; one more key gives the reason.",
        lambda w: w.mark_nil(),
        ("N",),
        _deciding,
        group=1,
    ),
    Command(
        "mention.nil_usual",
        "NIL, not in the knowledge base",
        Menu.MENTION,
        "Marks the mention NIL with the usual reason, without a further key.",
        lambda w: w.mark_usual_nil(),
        ("0",),
        _deciding,
        group=1,
    ),
    Command(
        "mention.reject",
        "Reject mention",
        Menu.MENTION,
        "Marks that this is not a mention of an entity, or has the wrong span; one more key gives the reason.",
        lambda w: w.reject(),
        ("X",),
        _deciding,
        group=1,
    ),
    Command(
        "mention.skip",
        "Skip mention",
        Menu.MENTION,
        "Leaves the mention for somebody else; one more key gives the reason.",
        lambda w: w.skip(),
        ("S",),
        _deciding,
        group=1,
    ),
    Command(
        "mention.clear",
        "Clear decision",
        Menu.MENTION,
        "Makes the mention undecided again; the history keeps the decision.",
        lambda w: w.clear_decision(),
        ("Backspace",),
        lambda s: _deciding(s) and s.decided,
        group=1,
    ),
    Command(
        "mention.contrast",
        "Compare the first two candidates",
        Menu.MENTION,
        "Sets the first two candidates side by side and weighs the words of the text; again, goes back.",
        lambda w: w.compare_candidates(),
        ("V",),
        lambda s: s.mention and s.candidates > 1 and not s.shuffled,
        group=2,
    ),
    Command(
        "mention.tint",
        "Tint the words that tell them apart",
        Menu.MENTION,
        "Tints the words of the text by the candidate they speak for; the numbers are shown on hover.",
        lambda w: w.tint_words(),
        ("Shift+V",),
        lambda s: s.mention and s.candidates > 1 and not s.shuffled,
        group=2,
    ),
    Command(
        "mention.hidden",
        "Show hidden candidates",
        Menu.MENTION,
        "Unfolds the candidates below the limit and those of other types, or folds them again; shows suggestions that "
        "are held back.",
        lambda w: w.show_hidden_candidates(),
        ("H",),
        lambda s: s.mention,
        group=2,
    ),
    Command(
        "mention.search",
        "Search knowledge base",
        Menu.MENTION,
        "Searches names, synonyms, identifiers and definitions.",
        lambda w: w.search(),
        ("/",),
        lambda s: s.knowledge_base,
        group=2,
    ),
    Command(
        "mention.search_text",
        "Search the mention's text",
        Menu.MENTION,
        "Searches the knowledge base for the text of the mention.",
        lambda w: w.search_mention_text(),
        ("Space",),
        lambda s: s.knowledge_base and s.mention,
        group=2,
    ),
    Command(
        "mention.search_also",
        "Link to several entities…",
        Menu.MENTION,
        "Searches for one more entity and adds it to the link: for a mention that names several at once.",
        lambda w: w.search_also(),
        ("+",),
        lambda s: _deciding(s) and s.knowledge_base,
        group=2,
    ),
    Command(
        "mention.create",
        "Make a mention",
        Menu.MENTION,
        "Makes the selected text a mention and asks for its type.",
        lambda w: w.create_mention(),
        ("M",),
        lambda s: s.writable and s.selection,
        group=3,
    ),
    Command(
        "mention.delete",
        "Delete mention",
        Menu.MENTION,
        "Deletes the mention; undo brings it back with its decisions.",
        lambda w: w.delete_mention(),
        ("Del",),
        _deciding,
        group=3,
    ),
)

QUEUE = (
    Command(
        "queue.next",
        "Next document",
        Menu.QUEUE,
        "Opens the next document of the queue.",
        lambda w: w.step_document(1),
        ("PgDown",),
        lambda s: s.project,
    ),
    Command(
        "queue.previous",
        "Previous document",
        Menu.QUEUE,
        "Opens the previous document of the queue.",
        lambda w: w.step_document(-1),
        ("PgUp",),
        lambda s: s.project,
    ),
    Command(
        "queue.done",
        "Document done",
        Menu.QUEUE,
        "Marks the document done and opens the next; asks first where mentions are undecided. A done document is "
        "reopened.",
        lambda w: w.mark_done(anyway=False),
        ("Ctrl+Return", "Ctrl+Enter"),
        lambda s: s.writable and s.document,
        group=1,
    ),
    Command(
        "queue.done_anyway",
        "Document done, rest undecided",
        Menu.QUEUE,
        "Marks the document done without asking; mentions without a decision stay undecided.",
        lambda w: w.mark_done(anyway=True),
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
        lambda s: s.writable and s.document,
        group=1,
    ),
    Command(
        "queue.filter",
        "Filter queue",
        Menu.QUEUE,
        "Puts the cursor into the queue's filter.",
        lambda w: w.filter_queue(),
        ("Ctrl+L",),
        lambda s: s.project,
        group=1,
    ),
)
