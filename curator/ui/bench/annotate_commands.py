"""Commands of the menu Annotate: data recorded for mentions in addition to links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.bench.attribute_desk import AttributeDesk


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
