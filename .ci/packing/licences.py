"""The licences of everything inside a bundle, copied to `licences/`, and who made what."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

LICENCE_FILE = re.compile(r"(.*/)?(licen[cs]e|copying|notice|copyright|authors)[^/]*", re.IGNORECASE)
COMMON = Path("/usr/share/common-licenses")
LONGEST = 80


@dataclass(frozen=True)
class Part:
    """Something inside a bundle: `kind` is that of its package URL (`pypi`, `deb`, `generic`)."""

    kind: str
    name: str
    version: str
    licence: str
    purl: str


def parts(bundle: Path, packages: Path, libraries: Mapping[Path, Path]) -> list[Part]:
    """Copy the licences of all packages, of Python and of the system's libraries; returns what is inside, sorted."""
    to = bundle / "licences"
    to.mkdir()
    found = [_python(to)]
    for one in sorted(distributions(path=[str(packages)]), key=lambda one: one.metadata["Name"].lower()):
        found.append(_package(one, to))
    found += _libraries(libraries.values(), to)
    for name in ("LGPL-3", "GPL-3", "GPL-2"):
        if (COMMON / name).exists():
            shutil.copyfile(COMMON / name, to / f"{name}.txt")
    return sorted(found, key=lambda one: one.purl)


def licence_of(metadata: Mapping[str, str], classifiers: Iterable[str] = ()) -> str:
    """As the package names it: its expression, else its short field, else its classifiers; `` where it does not."""
    for key in ("License-Expression", "License"):
        text = (metadata.get(key) or "").strip()
        if text and text != "UNKNOWN" and len(text) <= LONGEST and "\n" not in text:
            return text
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    return " and ".join(named)


def _package(one: Distribution, to: Path) -> Part:
    name, version = one.metadata["Name"], one.version
    fields = {key: one.metadata.get(key, "") for key in ("License-Expression", "License")}
    licence = licence_of(fields, one.metadata.get_all("Classifier") or [])
    folder = to / f"{name}-{version}"
    folder.mkdir()
    for file in one.files or ():
        inside = str(file)
        if LICENCE_FILE.fullmatch(inside) and not inside.endswith((".py", ".pyc")):
            source = Path(str(one.locate_file(file)))
            if source.is_file():
                shutil.copyfile(source, folder / re.sub(r"[^\w.+-]+", "_", inside))
    if not any(folder.iterdir()):
        text = one.metadata.get("License") or licence or "The package names no licence."
        (folder / "LICENCE-AS-NAMED-BY-THE-PACKAGE.txt").write_text(f"{text}\n", encoding="utf-8")
    plain = re.sub(r"[-_.]+", "-", name).lower()
    return Part("pypi", name, version, licence, f"pkg:pypi/{plain}@{version.replace('+', '%2B')}")


def _python(to: Path) -> Part:
    version = ".".join(map(str, sys.version_info[:3]))
    folder = to / f"Python-{version}"
    folder.mkdir()
    for place in (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path("/usr/share/doc/python3/copyright")):
        if place.exists():
            shutil.copyfile(place, folder / "LICENSE.txt")
            break
    return Part("generic", "cpython", version, "Python-2.0", f"pkg:generic/cpython@{version}")


def _libraries(places: Iterable[Path], to: Path) -> list[Part]:
    """Those of Debian's packages; a library of no package is named by its file."""
    found: dict[str, Part] = {}
    for place in sorted(places):
        package = _debian_package(place)
        name, version = package or (place.name.split(".so")[0], "0")
        kind = "deb" if package else "generic"
        purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch=amd64" if package else f"pkg:generic/{name}"
        found[name] = Part(kind, name, version, "", purl)
        licence = Path("/usr/share/doc") / name / "copyright"
        folder = to / name
        folder.mkdir(exist_ok=True)
        if licence.exists():
            shutil.copyfile(licence, folder / "copyright")
    return list(found.values())


def _debian_package(library: Path) -> tuple[str, str] | None:
    if shutil.which("dpkg-query") is None:
        return None
    for path in (library, library.resolve(), Path("/usr", *library.parts[1:]), Path("/", *library.resolve().parts[2:])):
        owner = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)  # noqa: S603, S607
        if owner.returncode == 0:
            name = owner.stdout.splitlines()[0].rpartition(": ")[0].split(",")[0]
            shown = subprocess.run(  # noqa: S603
                ["dpkg-query", "-W", "-f", "${Package} ${Version}", name],  # noqa: S607
                capture_output=True,
                text=True,
                check=True,
            )
            plain, _, version = shown.stdout.partition(" ")
            return plain, version
    return None
