"""All commands, in the order of the menus."""

from __future__ import annotations

from curator.commands.command import Command
from curator.commands.curating import EDIT, MENTION, QUEUE
from curator.commands.project import HELP, MODEL, PROJECT, TOOLS, VIEW

COMMANDS: tuple[Command, ...] = (*PROJECT, *EDIT, *MENTION, *QUEUE, *MODEL, *TOOLS, *VIEW, *HELP)
