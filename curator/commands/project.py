"""Commands around the deciding loop: the project, the model, tools, view and help."""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowActions, WindowState


def _idle(state: WindowState) -> bool:
    return state.writable and state.knowledge_base and not state.job_running


def _theme(name: str, sentence: str) -> Command:
    def run(window: WindowActions) -> None:
        window.set_theme(name)

    return Command(f"view.{name}", f"{name.capitalize()} colours", Menu.VIEW, sentence, run, group=1)


_THEMES = {
    "system": "Follows the desktop's light or dark setting.",
    "light": "Dark text on a light ground.",
    "dark": "Light text on a dark ground.",
}

PROJECT = (
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
        "project.new_window",
        "New window",
        Menu.PROJECT,
        "Opens one more window, in which another project can be open at the same time.",
        lambda w: w.new_window(),
        ("Ctrl+Shift+N",),
    ),
    Command(
        "project.open_in_window",
        "Open in new window…",
        Menu.PROJECT,
        "Opens a project beside the present one, in a window of its own.",
        lambda w: w.open_in_new_window(),
        ("Ctrl+Shift+O",),
    ),
    Command(
        "project.close",
        "Close project",
        Menu.PROJECT,
        "Goes back to the first page, when all decisions are on disk.",
        lambda w: w.close_project(),
        ("Ctrl+W",),
        lambda s: s.project,
    ),
    Command(
        "project.import_kb",
        "Import knowledge base…",
        Menu.PROJECT,
        "Loads entities from MeSH, UMLS, OBO, tables and other files, and builds the index.",
        lambda w: w.import_knowledge_base(),
        ("Ctrl+Shift+I",),
        lambda s: s.writable and not s.job_running,
        group=1,
    ),
    Command(
        "project.import",
        "Import documents…",
        Menu.PROJECT,
        "Shows what files, folders and archives of every format would bring, and imports them with or without gold.",
        lambda w: w.import_documents(),
        ("Ctrl+I",),
        lambda s: s.writable and not s.importing,
        group=1,
    ),
    Command(
        "project.imports",
        "Imports…",
        Menu.PROJECT,
        "Lists what was imported from where, when and by whom, and goes on with an import that was stopped.",
        lambda w: w.show_imports(),
        enabled=lambda s: s.project,
        group=1,
    ),
    Command(
        "project.undo_import",
        "Undo import…",
        Menu.PROJECT,
        "Hides the documents of the last import, or of another, after saying what was done by hand in them.",
        lambda w: w.undo_import(),
        enabled=lambda s: s.writable and not s.importing,
        group=1,
    ),
    Command(
        "project.fetch",
        "Fetch from PubMed…",
        Menu.PROJECT,
        "Asks NCBI over the network for records by PMID or query, and imports them; nothing is sent before you agree.",
        lambda w: w.fetch_from_pubmed(),
        (),
        lambda s: s.writable and not s.importing,
        group=1,
    ),
    Command(
        "project.types",
        "Type mapping…",
        Menu.PROJECT,
        "Sets which entity types each mention type may link to.",
        lambda w: w.edit_type_mapping(),
        (),
        lambda s: s.writable,
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
        "Closes every window, when all decisions are on disk.",
        lambda w: w.quit(),
        ("Ctrl+Q",),
        group=3,
    ),
)

MODEL = (
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
        "model.resume",
        "Resume the interrupted training…",
        Menu.MODEL,
        "Goes on with a training that a crash, a kill or a reboot interrupted, or discards it.",
        lambda w: w.resume_training(),
        (),
        lambda s: _idle(s) and s.interrupted,
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
        "Bundles…",
        Menu.MODEL,
        "Lists the bundles with figures and disk use; promotes one, rolls back, deletes old ones.",
        lambda w: w.show_bundles(),
        ("Ctrl+H",),
        lambda s: s.project,
        group=1,
    ),
    Command(
        "model.map",
        "Embedding map…",
        Menu.MODEL,
        "Shows where the training of the bundle in use moved mentions and entities.",
        lambda w: w.show_embedding_map(),
        (),
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
        "model.calibrate",
        "Calibrate",
        Menu.MODEL,
        "Fits the fusion of scores and the NIL threshold to the decisions of the validation documents.",
        lambda w: w.calibrate(),
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

TOOLS = (
    Command(
        "tools.detect",
        "Detect mentions…",
        Menu.TOOLS,
        "Marks names, remembered mentions and abbreviations in this document, of the entity types you choose.",
        lambda w: w.detect_mentions(),
        ("Ctrl+D",),
        lambda s: _idle(s) and s.document,
    ),
    Command(
        "tools.detect_all",
        "Detect mentions in all documents without any…",
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
    Command(
        "tools.shuffle",
        "Shuffle candidates",
        Menu.TOOLS,
        "For an evaluation: shows candidates in a random order without scores; again, goes back to the best first.",
        lambda w: w.shuffle_candidates(),
        (),
        lambda s: s.project,
        group=1,
    ),
    Command(
        "tools.result",
        "Show the last result",
        Menu.TOOLS,
        "Opens what background work came to: the newest result you have not seen, or the one you saw last.",
        lambda w: w.show_result(),
        ("F9",),
        lambda s: s.results,
        group=2,
    ),
)

VIEW = (
    Command("view.bigger", "Larger text", Menu.VIEW, "Enlarges the text.", lambda w: w.zoom(1), ("Ctrl++", "Ctrl+=")),
    Command("view.smaller", "Smaller text", Menu.VIEW, "Reduces the text.", lambda w: w.zoom(-1), ("Ctrl+-",)),
    Command(
        "view.normal", "Normal text size", Menu.VIEW, "Goes back to the normal size.", lambda w: w.zoom(0), ("Ctrl+0",)
    ),
    *(_theme(name, sentence) for name, sentence in _THEMES.items()),
    Command(
        "view.pane",
        "Next part of the window",
        Menu.VIEW,
        "Moves the keyboard from the text to the queue, the candidates, the search and back.",
        lambda w: w.next_pane(),
        ("F6",),
        lambda s: s.project,
        group=2,
    ),
    Command(
        "view.palette",
        "Command palette…",
        Menu.VIEW,
        "Finds a command by a few of its letters and says why one cannot be used; @ finds documents.",
        lambda w: w.show_palette(),
        ("Ctrl+K",),
        group=2,
    ),
    Command(
        "view.reset_layout",
        "Reset layout",
        Menu.VIEW,
        "Lays the window and its parts out as they were at the first start.",
        lambda w: w.reset_layout(),
        (),
        group=2,
    ),
)

HELP = (
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
