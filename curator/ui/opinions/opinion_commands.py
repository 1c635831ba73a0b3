"""Commands of the second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.opinions.opinion_flows import OpinionFlows


OPINIONS: tuple[Command[OpinionFlows], ...] = (
    Command(
        "tools.opinion_ask",
        "Ask for a second opinion",
        Menu.TOOLS,
        "Asks a language model on this computer which candidate fits the mention. Its answer is shown next to the "
        "candidates and decides nothing.",
        lambda opinions: opinions.ask_now(),
        ("Shift+O",),
        when=lambda s: s.writable and s.mention and s.candidates > 0 and not s.judging and not s.shuffled,
        group=3,
    ),
    Command(
        "tools.opinion_queue",
        "Second opinions for the queue…",
        Menu.TOOLS,
        "Asks the language model, in the background, about the undecided mentions that the filter shows and the linker "
        "doubts.",
        lambda opinions: opinions.ask_queue(),
        when=lambda s: s.writable and s.knowledge_base and not s.judging,
        group=3,
    ),
    Command(
        "tools.opinion",
        "Second opinion…",
        Menu.TOOLS,
        "Sets which language model is asked for a second opinion, when, and with which prompt. Off by default.",
        lambda opinions: opinions.show_settings(),
        when=lambda s: s.writable,
        group=3,
    ),
)
