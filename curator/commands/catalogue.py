"""All commands, in the order of the menus."""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowActions, WindowState


def _writable(state: WindowState) -> bool:
    return state.writable


def _deciding(state: WindowState) -> bool:
    return state.writable and state.mention


def _idle(state: WindowState) -> bool:
    return state.writable and state.knowledge_base and not state.job_running


def _document(state: WindowState) -> bool:
    return state.document


def _choose(rank: int) -> Command:
    def run(window: WindowActions) -> None:
        window.choose(rank)

    def enabled(state: WindowState) -> bool:
        return _deciding(state) and state.candidates >= rank

    return Command(
        f"mention.choose{rank}",
        f"Choose candidate {rank}",
        Menu.MENTION,
        f"Links the mention to the candidate with rank {rank}.",
        run,
        (str(rank),),
        enabled,
        group=1,
        hidden=True,
    )


def _theme(name: str) -> Command:
    def run(window: WindowActions) -> None:
        window.set_theme(name)

    return Command(f"view.{name}", f"{name.capitalize()} colours", Menu.VIEW, _THEME_HELP[name], run, group=1)


_THEME_HELP = {
    "system": "Follows the desktop's light or dark setting.",
    "light": "Dark text on a light ground.",
    "dark": "Light text on a dark ground.",
}

_PROJECT = (
    Command(
        "project.new",
        "New project…",
        Menu.PROJECT,
        "Creates a project folder and asks for a knowledge base and documents.",
        lambda w: w.new_project(),
        ("Ctrl+N",),
    ),
    Command(
        "project.open",
        "Open project…",
        Menu.PROJECT,
        "Opens a project folder; one that another process writes to opens read-only.",
        lambda w: w.open_project(),
        ("Ctrl+O",),
    ),
    Command(
        "project.import_kb",
        "Import knowledge base…",
        Menu.PROJECT,
        "Loads entities from JSON lines, OBO or ZESHEL documents and builds the index.",
        lambda w: w.import_knowledge_base(),
        ("Ctrl+Shift+I",),
        lambda s: s.writable and not s.job_running,
        group=1,
    ),
    Command(
        "project.import",
        "Import documents…",
        Menu.PROJECT,
        "Reads PubTator, ZESHEL, PubMed XML or MEDLINE files, with or without their gold.",
        lambda w: w.import_documents(),
        ("Ctrl+I",),
        lambda s: s.writable and not s.job_running,
        group=1,
    ),
    Command(
        "project.types",
        "Type mapping…",
        Menu.PROJECT,
        "Sets which entity types each mention type may link to.",
        lambda w: w.edit_type_mapping(),
        (),
        _writable,
        group=1,
    ),
    Command(
        "project.export",
        "Export gold…",
        Menu.PROJECT,
        "Writes the decisions in the format of the documents; what was not changed stays byte for byte.",
        lambda w: w.export_gold(),
        ("Ctrl+E",),
        lambda s: s.project,
        group=2,
    ),
    Command(
        "project.quit",
        "Quit",
        Menu.PROJECT,
        "Closes the window; everything is saved already.",
        lambda w: w.quit(),
        ("Ctrl+Q",),
        group=3,
    ),
)

_EDIT = (
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
        "Curator's name, colours, font size, device and encoder.",
        lambda w: w.edit_settings(),
        ("Ctrl+,",),
        group=1,
    ),
)

_MENTION = (
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
        lambda s: _deciding(s) and s.candidates > 0,
        group=1,
    ),
    *(_choose(rank) for rank in range(1, 10)),
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

_QUEUE = (
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
        "Marks the document done and opens the next; on a done document, takes it back.",
        lambda w: w.mark_done(),
        ("Ctrl+Return",),
        lambda s: s.writable and s.document,
        group=1,
    ),
    Command(
        "queue.filter",
        "Filter queue",
        Menu.QUEUE,
        "Puts the cursor into the queue's filter.",
        lambda w: w.filter_queue(),
        ("Ctrl+F",),
        lambda s: s.project,
        group=1,
    ),
)

_MODEL = (
    Command(
        "model.retrain",
        "Retrain…",
        Menu.MODEL,
        "Trains a recipe on the decisions of the training documents in the background.",
        lambda w: w.retrain(),
        ("Ctrl+R",),
        _idle,
    ),
    Command(
        "model.cancel",
        "Cancel background work",
        Menu.MODEL,
        "Stops the running import, indexing or training; what was there before stays as it was.",
        lambda w: w.cancel_job(),
        ("Ctrl+.",),
        lambda s: s.job_running,
    ),
    Command(
        "model.history",
        "History…",
        Menu.MODEL,
        "Lists the bundles with their figures; promotes one or rolls back.",
        lambda w: w.show_bundles(),
        ("Ctrl+H",),
        lambda s: s.project,
        group=1,
    ),
    Command(
        "model.index",
        "Rebuild index",
        Menu.MODEL,
        "Builds the lexical and the dense index of the knowledge base anew.",
        lambda w: w.build_index(),
        (),
        _idle,
        group=1,
    ),
    Command(
        "model.restart",
        "Restart linker",
        Menu.MODEL,
        "Starts the linker process again.",
        lambda w: w.restart_linker(),
        (),
        lambda s: s.project and s.knowledge_base,
        group=1,
    ),
)

_TOOLS = (
    Command(
        "tools.detect",
        "Detect mentions",
        Menu.TOOLS,
        "Marks names and synonyms of the knowledge base in this document, longest match first.",
        lambda w: w.detect_mentions(),
        ("Ctrl+D",),
        lambda s: _idle(s) and s.document,
    ),
    Command(
        "tools.detect_all",
        "Detect mentions in all documents without any",
        Menu.TOOLS,
        "Does the same in every document of the project that has no mentions.",
        lambda w: w.detect_mentions_everywhere(),
        (),
        _idle,
    ),
    Command(
        "tools.evaluate",
        "Evaluate…",
        Menu.TOOLS,
        "Compares the linker with the decisions of a split: recall@1, recall@64 and NIL.",
        lambda w: w.evaluate(),
        (),
        _idle,
        group=1,
    ),
)

_VIEW = (
    Command("view.bigger", "Larger text", Menu.VIEW, "Enlarges the text.", lambda w: w.zoom(1), ("Ctrl++", "Ctrl+=")),
    Command("view.smaller", "Smaller text", Menu.VIEW, "Reduces the text.", lambda w: w.zoom(-1), ("Ctrl+-",)),
    Command(
        "view.normal", "Normal text size", Menu.VIEW, "Goes back to the normal size.", lambda w: w.zoom(0), ("Ctrl+0",)
    ),
    *(_theme(name) for name in _THEME_HELP),
)

_HELP = (
    Command("help.manual", "Manual", Menu.HELP, "Opens the manual.", lambda w: w.show_manual(), ("F1",)),
    Command("help.keys", "Keys", Menu.HELP, "Shows all keys over the window.", lambda w: w.show_keys(), ("?",)),
    Command(
        "help.diagnostics",
        "Copy diagnostics",
        Menu.HELP,
        "Copies versions, paths and recent log lines, without any document text.",
        lambda w: w.copy_diagnostics(),
        (),
        group=1,
    ),
    Command(
        "help.about",
        "About Curator",
        Menu.HELP,
        "Version, licences and the device that serves.",
        lambda w: w.about(),
        (),
        group=1,
    ),
)

COMMANDS: tuple[Command, ...] = (*_PROJECT, *_EDIT, *_MENTION, *_QUEUE, *_MODEL, *_TOOLS, *_VIEW, *_HELP)
