"""Every real file of `../shared/data`, imported and written again: a table in Markdown.

    python -m tests.benchmarks.real_files --out real-files.md

Documents go through a project: imported as the window does, exported in the format they came in, and compared. *Byte
for byte* is of the unpacked file; *same content* is the same XML after canonicalisation, white space between elements
aside, or the same JSON value; *same when read* the same texts, passages, mentions and identifiers. What is only read is
written as Curator's own JSON lines and read again. Knowledge bases are only read. A refused file is listed with its
message.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from curator.bootstrap import Project, create_project
from curator.domain.wording import UserError
from curator.io import default_registry
from curator.services.ports.files import DocumentFormat
from tests.curator.services.fakes import finish

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
OWN = "decisions"
HEADINGS = ("file", "format", "documents", "mentions", "repaired", "set aside", "round trip", "seconds")


@dataclass(frozen=True, slots=True)
class Row:
    file: str
    format: str
    documents: str = ""
    mentions: str = ""
    repaired: str = ""
    set_aside: str = ""
    round_trip: str = ""
    seconds: str = ""

    def cells(self) -> tuple[str, ...]:
        return (
            self.file,
            self.format,
            self.documents,
            self.mentions,
            self.repaired,
            self.set_aside,
            self.round_trip,
            self.seconds,
        )


def rows(data: Path) -> Iterator[Row]:
    """A row for each file, and for each folder that is read as a whole."""
    registry = default_registry()
    sources = [one for one in sorted(data.rglob("*")) if one.is_file() and one.name != "README.md"]
    for path in [*sources, data / "zeshel" / "documents"]:
        name = path.relative_to(data).as_posix()
        try:
            form = registry.recognise(path)
        except UserError as error:
            yield _knowledge_base(path, name, str(error))
        else:
            yield _documents(path, name, form)


def _documents(path: Path, name: str, form: DocumentFormat) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        project = create_project(place / "p.curation", curator="bench", linker=False)
        try:
            started = time.perf_counter()
            report = finish(project.importing.documents([path]))
            seconds = time.perf_counter() - started
            severities = Counter(one.problem.severity for one in report.problems)
            return Row(
                name,
                form.title,
                f"{report.counts.get('documents', 0):,}",
                f"{report.counts.get('mentions', 0):,}",
                f"{severities['repaired']:,}",
                f"{severities['set aside']:,}",
                _round_trip(project, path, form, place),
                f"{seconds:.1f}",
            )
        finally:
            project.close()


def _round_trip(project: Project, path: Path, form: DocumentFormat, place: Path) -> str:
    wanted = form if form.can_write else default_registry().by_name(OWN)
    target = place / "out"
    report = project.exporting.export(target / path.name if path.is_dir() else place / path.name, wanted.name)
    if not form.can_write:
        same = _read(form, path) == _read(wanted, report.paths[0])
        return f"only read; {'the same' if same else 'DIFFERS'} through {wanted.title}"
    before, after = _bytes(path), _bytes(report.paths[0])
    if before == after:
        return "byte for byte"
    if _content(before) == _content(after) is not None:
        return "same content"
    return "same when read" if _read(form, path) == _read(form, report.paths[0]) else "DIFFERS"


def _knowledge_base(path: Path, name: str, why: str) -> Row:
    started = time.perf_counter()
    try:
        reader = default_registry().open_kb(path)
        entities = list(reader)
    except UserError:
        return Row(name, "refused", round_trip=why.replace(str(path), path.name).partition(" (")[0])
    severities = Counter(one.severity for one in reader.problems)
    names = sum(1 + len(one.synonyms) for one in entities)
    return Row(
        name,
        default_registry().kb_titles()[reader.format],
        f"{len(entities):,} entities",
        f"{names:,} names",
        f"{severities['repaired']:,}",
        f"{severities['set aside']:,}",
        "only read",
        f"{time.perf_counter() - started:.1f}",
    )


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _content(data: bytes) -> object:
    """What XML or JSON says; None for anything else."""
    try:
        return json.loads(data)
    except ValueError:
        pass
    parser = etree.XMLParser(remove_blank_text=True, load_dtd=False, no_network=True, resolve_entities=False)
    try:
        return etree.tostring(etree.fromstring(data, parser), method="c14n")
    except etree.XMLSyntaxError:
        return None


def _read(form: DocumentFormat, path: Path) -> list[object]:
    """What the documents say, without what a file's layout alone decides."""
    return [
        (
            one.external_id,
            one.title,
            one.text,
            one.passages,
            sorted((mention.spans, mention.text, mention.type, mention.ids) for mention in one.mentions),
        )
        for one in form.open(path)
    ]


def table(found: Sequence[Row]) -> str:
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(one.cells() for one in found)]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, help="a Markdown file; otherwise standard output")
    chosen = parser.parse_args()
    text = table(list(rows(chosen.data)))
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
