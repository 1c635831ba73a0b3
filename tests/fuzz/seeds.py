"""The start inputs for fuzzing: small files of every format, written by our own writers, kept here, or real ones.

A new format that is written needs nothing; one that is only read wants a file in `seeds/NAME/` (a folder of several
files, for a target whose inputs are such). Real files of `../shared/data` come along where they are small.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.services.ports.files import DocumentFormat
from tests.fuzz.packing import of_path, pack
from tests.fuzz.targets import FOLDERS
from tests.rewriting import decided

KEPT = Path(__file__).parent / "seeds"
FOUND = Path(__file__).parent / "found"
"""Inputs on which a reader failed once, as the fuzzer has them, in a folder for each target."""
REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
DEMO = Path(__file__).resolve().parents[2] / "resources/demo"
LARGEST = 50_000
TEXT = (
    "1|t|Naloxone reverses the antihypertensive effect of clonidine \U0001f600.\n"
    "1|a|In e\u0301pilepsy, Dup15q (\u03b2-catenin) | does: nothing.\n"
    "1\t0\t8\tNaloxone\tChemical\tD009270\n"
    "1\t49\t58\tclonidine\tChemical\tD003000|D000001\n"
    "1\t26\t45\tantihypertensive ef\tDisease\t-1\n"
    "1\tCID\tD009270\tD003000\n\n"
    "2|t|\n2|a|Only an abstract.\n2\t1\t5\tOnly\tDisease\tMESH:D1\n\n3|t|Only a title.\n3|a|\n\n"
)


def seeds(name: str) -> list[bytes]:
    """Of one target. Raises LookupError where there is none."""
    known = [*_of(name), *(one.read_bytes() for one in found(name))]
    if not known:
        raise LookupError(f"no seed for {name}: put a small file into {KEPT / name}")
    return known


def found(name: str) -> list[Path]:
    return sorted((FOUND / name).glob("*"))


def _of(name: str) -> Iterator[bytes]:
    if name in ("recognise", "archive", "folder"):
        yield from _of_all(name)
        return
    plain = name.removeprefix("zip-")
    kept = KEPT / plain
    files = list(_real(plain))
    if kept.is_dir():
        files += [kept] if plain in FOLDERS else sorted(kept.iterdir())
    for one in files:
        yield pack({"a/" + one.name: one.read_bytes()}) if name != plain else of_path(one)
    form = next((one for one in default_registry().formats() if one.name == plain), None)
    if form is not None and form.can_write:
        yield from _written(form, several=name != plain)


def _of_all(name: str) -> Iterator[bytes]:
    """One of each other target's."""
    from tests.fuzz.packing import as_zip
    from tests.fuzz.targets import targets

    for other in targets():
        if other in ("recognise", "archive", "folder") or other.startswith("zip-") or other in FOLDERS:
            continue
        one = min(_of(other), key=len, default=None)
        if one is not None:
            yield {"recognise": one, "archive": as_zip(pack({"a.txt": one})), "folder": pack({"a.txt": one})}[name]
    if name == "folder":
        yield from (of_path(KEPT / one) for one in ("kb-umls", "kb-zeshel"))


def _written(form: DocumentFormat, *, several: bool) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        try:
            form.write([(SourceFile(1, "x", "x", "other", ""), list(decided(_documents(Path(folder)))))], out)
        except UserError:
            return
        paths = [one for one in Path(folder).rglob("*") if one.is_file() and one.name != "x.pubtator"]
        packed = {one.relative_to(folder).as_posix(): one.read_bytes() for one in paths}
        if several or form.name in FOLDERS:
            yield pack(packed)
        else:
            yield from packed.values()


def _documents(folder: Path) -> list[SourceDocument]:
    path = folder / "x.pubtator"
    path.write_text(TEXT, encoding="utf-8")
    return list(default_registry().by_name("pubtator").open(path))


def _real(name: str) -> Iterator[Path]:
    """The small real files that are recognised as this document format."""
    if name.startswith("kb-") or name in FOLDERS or not REAL.is_dir():
        return
    for path in sorted(one for one in REAL.rglob("*") if one.is_file() and one.stat().st_size < LARGEST):
        try:
            found = default_registry().recognise(path)
        except UserError:
            continue
        if found.name == name:
            yield path
