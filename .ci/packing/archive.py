"""From a finished folder to its manifest, an archive and a Debian package: the same bytes for the same files."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

MANIFEST = "MANIFEST.sha256"
XZ = ("xz", "--threads=2", "--x86", "--lzma2=preset=1", "--stdout")
"""The filter for code of x86 saves more than a higher preset. Preset 3 would take three times as long for 3 % less."""


def normalise(folder: Path, epoch: int) -> None:
    """Fixed times and permissions: those of a file depend on who made it, and with which mask."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            runs = path.is_dir() or bool(path.stat().st_mode & 0o100)
            path.chmod(0o755 if runs else 0o644)
            os.utime(path, (epoch, epoch))
    folder.chmod(0o755)
    os.utime(folder, (epoch, epoch))


def write_manifest(folder: Path) -> int:
    """One line `hash  path` for each file but the manifest, as `sha256sum --check` reads it; returns their number."""
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in files(folder)]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")
    return len(lines)


def files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*"), key=lambda one: one.relative_to(folder).as_posix()):
        if path.is_file() and path != folder / MANIFEST:
            yield path


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size(folder: Path) -> int:
    """Bytes of all files; a disk needs about 2 % more."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write_tar(folder: Path, out: Path, epoch: int) -> None:
    """A sorted `.tar.xz` with `folder` as its only entry at the top, owned by root."""
    _write([folder, *sorted(folder.rglob("*"))], folder.parent, out, epoch)


def _write(paths: Iterable[Path], top: Path, out: Path, epoch: int, prefix: str = "") -> None:
    part = out.with_name(out.name + ".part")
    with (
        part.open("wb") as target,
        subprocess.Popen(XZ, stdin=subprocess.PIPE, stdout=target) as xz,  # noqa: S603 - a fixed program
    ):
        assert xz.stdin is not None, "started with a pipe"
        with tarfile.open(fileobj=xz.stdin, mode="w|", format=tarfile.GNU_FORMAT) as tar:
            for path in paths:
                name = prefix + path.relative_to(top).as_posix()
                tar.add(path, name, recursive=False, filter=_plain(epoch))
        xz.stdin.close()
    if xz.returncode:
        part.unlink()
        raise SystemExit("xz failed; is the disk full?")
    part.replace(out)


def _plain(epoch: int):  # type: ignore[no-untyped-def]  # a filter as tarfile wants it
    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = epoch
        return info

    return plain


CONTROL = """\
Package: curator
Version: {version}
Section: science
Priority: optional
Architecture: amd64
Maintainer: The Curator authors <curator@localhost>
Installed-Size: {kilobytes}
Depends: libc6 (>= {glibc}), libegl1, libgl1, libglib2.0-0, libdbus-1-3, libfontconfig1, libx11-xcb1, libxcb1,
 fonts-dejavu-core | fonts-liberation | fonts-noto-core
Recommends: desktop-file-utils, shared-mime-info
Description: Curate entity links in documents with an embedded, retrainable linker
 Curator suggests entities for the mentions in documents, stores what you decide,
 and retrains its linker on your decisions. It brings its own Python, Qt and
 PyTorch, and uses the network only when you ask it to.
"""


POSTRM = """\
#!/bin/sh
# what Python and numba wrote if root started the program
set -e
if [ "$1" = remove ]; then rm -rf /opt/curator; fi
"""


def stage_deb(bundle: Path, stage: Path, *, version: str, glibc: str) -> None:
    """The tree of the Debian package: the bundle in `/opt/curator`, and `curator` on the path. The files for menus come
    from the program itself (`desktop install`)."""
    shutil.copytree(bundle, stage / "opt" / "curator", symlinks=True, copy_function=os.link)
    for unused in ("install", "uninstall"):
        (stage / "opt" / "curator" / unused).unlink()
    binaries = stage / "usr" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "curator").symlink_to("/opt/curator/curator")
    control = stage / "DEBIAN"
    control.mkdir()
    (control / "postrm").write_text(POSTRM)
    (control / "postrm").chmod(0o755)
    kilobytes = size(stage) // 1024
    (control / "control").write_text(CONTROL.format(version=version, kilobytes=kilobytes, glibc=glibc))


def write_deb(stage: Path, out: Path, epoch: int) -> None:
    """Three files in an `ar`, as `dpkg-deb` writes it, but with the filter for code of x86: a fifth smaller."""
    normalise(stage, epoch)
    parts = [stage / name for name in ("debian-binary", "control.tar.xz", "data.tar.xz")]
    paths = sorted(stage.rglob("*"))
    control = stage / "DEBIAN"
    _write([one for one in paths if control in one.parents], control, parts[1], epoch, "./")
    _write([one for one in paths if control not in (one, *one.parents)], stage, parts[2], epoch, "./")
    parts[0].write_text("2.0\n")
    out.unlink(missing_ok=True)
    subprocess.run(["ar", "rcDS", str(out), *map(str, parts)], check=True)  # noqa: S603, S607 - a fixed program
    for part in parts:
        part.unlink()
