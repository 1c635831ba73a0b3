"""Libraries of Linux: what they need, from where, and which glibc. Uses `readelf`, `ldd` and `patchelf`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

# Every Linux has these: of glibc, and those that must fit its kernel, graphics driver and desktop.
OF_THE_SYSTEM = re.compile(
    r"(linux-vdso|ld-linux.*|libc|libm|libdl|libpthread|librt|libutil|libresolv|libnsl|libanl|"
    r"lib(E?GL|GLX|GLdispatch|OpenGL|gbm|drm)|libX11|libX11-xcb|libxcb|libX\w+|libfontconfig|libfreetype|libglib-2\.0|"
    r"libdbus-1|libgcc_s|libstdc\+\+|libwayland-.*)\.so.*"
)
GLIBC = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(folder: Path) -> Iterator[Path]:
    """In a fixed order."""
    for path in sorted(folder.rglob("*")):
        if (".so" in path.name or not path.suffix) and is_elf(path):
            yield path


def needed(path: Path) -> list[str]:
    """The libraries that the file names itself."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", _run("readelf", "--dynamic", "--wide", str(path)))


def found(path: Path) -> dict[str, Path]:
    """By name, where the system's loader finds all that the file needs, also indirectly."""
    lines = _run("ldd", str(path), check=False)
    return {name: Path(place) for name, place in re.findall(r"(\S+) => (/\S+)", lines)}


def foreign(path: Path) -> dict[str, Path]:
    """Those of `found` that another computer may lack."""
    return {name: place for name, place in found(path).items() if not OF_THE_SYSTEM.fullmatch(name)}


def set_rpath(path: Path, rpath: str) -> None:
    """Where the file's libraries are looked for first; `$ORIGIN` is its own folder."""
    _run(_tool("patchelf"), "--page-size", "4096", "--set-rpath", rpath, str(path))


def strip_symbols(path: Path) -> int:
    """Remove what only a debugger or a linker reads; returns the bytes saved."""
    before = path.stat().st_size
    _run("strip", "--strip-unneeded", str(path))
    return before - path.stat().st_size


def oldest_glibc(paths: Iterable[Path]) -> tuple[int, int]:
    """The version of glibc that all the files need. (0, 0) for none."""
    newest = (0, 0)
    for path in paths:
        for major, minor in GLIBC.findall(_run("readelf", "--version-info", "--wide", str(path))):
            newest = max(newest, (int(major), int(minor)))
    return newest


def _tool(name: str) -> str:
    import sys

    beside = Path(sys.executable).with_name(name)
    place = str(beside) if beside.exists() else shutil.which(name)
    if place is None:
        raise SystemExit(f"{name} is missing. Install it (pip install {name}) and start make bundle again.")
    return place


def _run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed programs
    if check and done.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout
