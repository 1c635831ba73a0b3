"""Commands of the candidates, of the search in the knowledge base and of its hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench


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
