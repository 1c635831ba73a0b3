"""Errors that are the user's or the environment's; everything else is a bug and keeps its traceback."""

from __future__ import annotations


class UserError(Exception):
    """A clear sentence: what happened, where (file, line), and what to do next.

    The command line prints it and exits with 2; the window shows it without a traceback.
    """


class UnknownFormatError(UserError):
    """No format knows the file's content."""


class ProjectLockedError(UserError):
    """Another process holds the project's write lock; the message names its process and host."""


class NewerProjectError(UserError):
    """The project was written by a newer version of the program and is left untouched."""


class LinkerUnavailableError(UserError):
    """The linker process is not there (being started, died, or no bundle has been built yet)."""


class InconsistentDataError(Exception):
    """A step contradicts what is stored: an id that does not exist, a second row of one key, a change of the history.

    A bug of the program, not of the user: it keeps its traceback. Nothing of the step was stored.
    """


class CancelledError(Exception):
    """The user cancelled; its own type, shown to nobody."""
