"""All commands, in the order of the menus."""

from __future__ import annotations

from curator.commands.command import Command
from curator.commands.curating import EDIT, MENTION, QUEUE
from curator.commands.entities import NEW_ENTITY, NIL_MENTIONS, UPDATE
from curator.commands.many import BULK, IDENTICAL
from curator.commands.people import PEOPLE, RECORDS, SUSPICIOUS, after, apart_from_rounds
from curator.commands.project import HELP, MODEL, PROJECT, TOOLS, VIEW
from curator.commands.queueing import GUIDELINES, NARROWING, NOTES
from curator.commands.seeing import SEEING
from curator.commands.text import FINDING, RESHAPING, SETTING

COMMANDS: tuple[Command, ...] = apart_from_rounds(
    (
        *after(PROJECT, "project.export", RECORDS),
        *after(EDIT, "edit.redo", (*FINDING, *RESHAPING)),
        *after(MENTION, "mention.nil", [NEW_ENTITY]),
        *IDENTICAL,
        NIL_MENTIONS,
        *NOTES,
        *QUEUE,
        *NARROWING,
        *BULK,
        *PEOPLE,
        *after(MODEL, "model.calibrate", [SUSPICIOUS]),
        *TOOLS,
        UPDATE,
        *after(VIEW, "view.normal", SETTING),
        *GUIDELINES,
        *SEEING,
        *HELP,
    )
)
