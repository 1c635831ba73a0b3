"""Files and folders that are dropped onto the window: what each is, and what is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from PySide6.QtCore import QMimeData

from curator.domain.errors import UserError
from curator.domain.wording import ntr, tr
from curator.services.importing.import_sources import has_source
from curator.services.importing.looking import Counted, FileRecogniser
from curator.services.ports import FormatRegistry

KB_SUFFIXES = (".json", ".gz", ".RRF")
"""Of files in a folder that may be a knowledge base; others are not opened, since folders may be large."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Paths by what they are; `wrong` has a sentence for each that is nothing of ours."""

    projects: tuple[Path, ...] = ()
    knowledge_bases: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    wrong: tuple[str, ...] = ()

    def refusal(self, *, open_project: bool, writable: bool) -> str:
        """What keeps them from being taken, as a sentence; '' when nothing does.

        Projects open anywhere; documents and a knowledge base need a project that can be written.
        """
        if self.wrong:
            return "\n".join(self.wrong)
        if len(self.knowledge_bases) > 1:
            return tr("A project has one knowledge base at a time. Drop one of these files.")
        content = self.knowledge_bases or self.documents
        if self.projects and content:
            return tr("Drop projects and files apart: a project is opened, files are imported into one.")
        if content and open_project and not writable:
            return tr("This project is open for reading only, so nothing was imported.")
        return ""


def local_paths(data: QMimeData) -> list[Path]:
    """Files and folders of this computer in what is dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]


def sorted_out(
    paths: Sequence[Path], formats: FormatRegistry, *, count: Counted | None = None, stop: Event | None = None
) -> Dropped:
    """Ask every path what it is, by content. Raises CancelledError once `stop` is set."""
    looker = FileRecogniser(formats, count=count, stop=stop)
    found: dict[str, list[Path]] = {"project": [], "knowledge base": [], "documents": []}
    wrong = []
    for path in paths:
        kind, words = _kind_of(path, formats, looker)
        if kind:
            found[kind].append(path)
        else:
            wrong.append(words)
    return Dropped(
        tuple(found["project"]), tuple(found["knowledge base"]), tuple(found["documents"]), wrong=tuple(wrong)
    )


def _kind_of(path: Path, formats: FormatRegistry, looker: FileRecogniser) -> tuple[str, str]:
    """("project", "knowledge base" or "documents", ''), or ('', why it is none)."""
    from curator.bootstrap import project_folder  # not needed for the first paint

    try:
        project_folder(path)
    except UserError:
        pass
    else:
        return "project", ""
    if path.is_dir() and _is_kb(path, formats):
        return "knowledge base", ""
    if has_source(path, looker):
        return "documents", ""
    if path.is_dir():
        return "", tr("{path} is neither a project, nor a folder of documents or of a knowledge base.", path=path)
    return ("knowledge base", "") if _is_kb(path, formats) else ("", looker.look(path).problem)


def _is_kb(path: Path, formats: FormatRegistry) -> bool:
    try:
        if path.is_dir() and not any(one.suffix in KB_SUFFIXES or one.name == "META" for one in path.iterdir()):
            return False
        formats.open_kb(path)
    except (UserError, OSError):
        return False
    return True


def words_for(paths: Sequence[Path]) -> str:
    """What the window says while something is held over it."""
    if len(paths) == 1:
        return tr("Drop {name} to open or import it.", name=paths[0].name)
    return ntr("Drop {n} file to open or import it.", "Drop {n} files to open or import them.", len(paths))
