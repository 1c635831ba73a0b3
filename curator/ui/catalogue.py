"""All commands of the program. Nothing that carries them out is loaded with it."""

from __future__ import annotations

from curator.commands import in_menu_order
from curator.ui.candidate_commands import CANDIDATES
from curator.ui.deciding_commands import DECIDING
from curator.ui.entity_commands import ENTITIES
from curator.ui.file_commands import FILES, RECORDS
from curator.ui.model_commands import JOBS, MODEL
from curator.ui.people_commands import PEOPLE
from curator.ui.queue_commands import QUEUE
from curator.ui.seeing_commands import SEEING
from curator.ui.shell_commands import NAME, SHELL
from curator.ui.text_commands import TEXT

COMMANDS = in_menu_order(
    (MODEL, FILES, RECORDS, JOBS, DECIDING, CANDIDATES, QUEUE, TEXT, SHELL, ENTITIES, NAME, PEOPLE, SEEING)
)
"""In the order of the menus; within a group of a menu the features follow each other as here."""
