"""Commands of the linker, of the tools that use it, and of the background work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench
    from curator.ui.training.model_flows import ModelFlows


def _idle(state: WindowState) -> bool:
    return state.writable and state.knowledge_base and not state.job_running


MODEL: tuple[Command[ModelFlows], ...] = (
    Command(
        "model.retrain",
        "Retrain…",
        Menu.MODEL,
        "Trains the linker with a recipe on the decisions of the training documents, in the background.",
        lambda model: model.retrain(),
        ("Ctrl+R",),
        when=_idle,
    ),
    Command(
        "model.resume",
        "Resume the interrupted training…",
        Menu.MODEL,
        "Resumes or discards a training that was interrupted by a crash, a kill or a restart of the computer.",
        lambda model: model.resume(),
        when=lambda s: _idle(s) and s.interrupted,
    ),
    Command(
        "model.history",
        "Linkers…",
        Menu.MODEL,
        "Lists the linkers with their results and disk use; puts one into use, rolls back and deletes old ones.",
        lambda model: model.show_bundles(),
        ("Ctrl+H",),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "model.curve",
        "Learning curve…",
        Menu.MODEL,
        "Shows in the dashboard what each training gained, by the number of decisions it used.",
        lambda model: model.bundles.curve_wanted.emit(),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "model.map",
        "Embedding map…",
        Menu.MODEL,
        "Shows how the training of the linker in use moved mentions and entities.",
        lambda model: model.show_map(),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "model.errors",
        "Errors of an evaluation…",
        Menu.MODEL,
        "Lists what the linker got wrong in an evaluation, the confident errors first; a row opens its mention.",
        lambda model: model.errors.show_errors(),
        when=lambda s: s.project and not s.judging,
        group=1,
    ),
    Command(
        "model.next_error",
        "Next error",
        Menu.MODEL,
        "Opens the next mention in the list of errors.",
        lambda model: model.errors.step(1),
        ("F2",),
        when=lambda s: s.project and not s.judging,
        group=1,
    ),
    Command(
        "model.previous_error",
        "Previous error",
        Menu.MODEL,
        "Opens the previous mention in the list of errors.",
        lambda model: model.errors.step(-1),
        ("Shift+F2",),
        when=lambda s: s.project and not s.judging,
        group=1,
    ),
    Command(
        "model.index",
        "Rebuild index",
        Menu.MODEL,
        "Rebuilds the lexical and the dense index of the knowledge base.",
        lambda model: model.build_index(again=True),
        when=_idle,
        group=1,
    ),
    Command(
        "model.calibrate",
        "Refit weights",
        Menu.MODEL,
        "Refits the weights of names, spelling, memory, hierarchy and NIL to the decisions. Trains no network.",
        lambda model: model.calibrate(),
        when=_idle,
        group=1,
    ),
    Command(
        "tools.detect",
        "Detect mentions…",
        Menu.TOOLS,
        "Marks names, remembered mentions and abbreviations in this document, of the entity types you choose.",
        lambda model: model.detect(everywhere=False),
        ("Ctrl+D",),
        when=lambda s: _idle(s) and s.document and not s.judging,
    ),
    Command(
        "tools.detect_all",
        "Detect mentions in all documents without any…",
        Menu.TOOLS,
        "Detects mentions in every document of the project that has none.",
        lambda model: model.detect(everywhere=True),
        when=lambda s: _idle(s) and not s.judging,
    ),
    Command(
        "tools.evaluate",
        "Evaluate…",
        Menu.TOOLS,
        "Compares the linker with the decisions of a split: recall@1, recall@64 and NIL.",
        lambda model: model.evaluate(),
        when=_idle,
        group=1,
    ),
)

JOBS: tuple[Command[Workbench], ...] = (
    Command(
        "model.cancel",
        "Cancel background work",
        Menu.MODEL,
        "Stops the running import, indexing or training. Existing data is not changed.",
        lambda bench: bench.jobs.cancel(),
        ("Ctrl+.",),
        when=lambda s: s.job_running,
    ),
    Command(
        "model.restart",
        "Restart linker",
        Menu.MODEL,
        "Starts the linker process again.",
        lambda bench: bench.project.suggestions.restart(),
        when=lambda s: s.project and s.knowledge_base,
        group=1,
    ),
    Command(
        "tools.result",
        "Show the last result",
        Menu.TOOLS,
        "Opens the newest result of background work that you have not seen, or else the one you saw last.",
        lambda bench: bench.notices.show(),
        ("F9",),
        when=lambda s: s.results,
        group=2,
    ),
)
