"""The command that searches all documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.corpus.corpus_flows import CorpusFlows


CORPUS: tuple[Command[CorpusFlows], ...] = (
    Command(
        "edit.search_documents",
        "Search the documents…",
        Menu.EDIT,
        "Searches all documents of the project for words or a regular expression, lists the hits in their contexts, "
        "and makes mentions of the ticked ones.",
        lambda corpus: corpus.show(),
        ("Ctrl+Shift+F",),
        when=lambda s: s.project,
        group=2,
    ),
)
