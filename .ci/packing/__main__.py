"""`python -m packing SITE_PACKAGES OUT`: makes the bundle of the packages in a folder. `make bundle` calls it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from packing import archive, elf, interpreter, licences, sbom, stripping
from packing.target import Target, target

INSTALLER = Path(__file__).parent / "installer"
ROOT = Path(__file__).parents[2]
LARGEST, LARGEST_ARCHIVE = 1_300_000_000, 450_000_000
"""Bytes of all files, and of an archive."""
# What Qt's plugin for X needs and not every desktop has; small, and bound to nothing else of the system.
FOR_QT = (
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-image.so.0",
    "libxcb-keysyms.so.1",
    "libxcb-randr.so.0",
    "libxcb-render-util.so.0",
    "libxcb-render.so.0",
    "libxcb-shape.so.0",
    "libxcb-shm.so.0",
    "libxcb-sync.so.1",
    "libxcb-util.so.1",
    "libxcb-xfixes.so.0",
    "libxcb-xkb.so.1",
    "libxkbcommon.so.0",
    "libxkbcommon-x11.so.0",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="packing", description=__doc__)
    parser.add_argument("packages", type=Path, help="a site-packages folder with curator and all that it needs")
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder-only", action="store_true", help="no archive and no Debian package")
    given = parser.parse_args()
    chosen = target()
    if not chosen.tried:
        print(f"A bundle for {chosen.name} was never tried; what is made is for trying.", file=sys.stderr)  # noqa: T201
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    version = _version(given.packages)
    bundle = given.out / f"Curator-{version}-{chosen.name}"
    shutil.rmtree(bundle, ignore_errors=True)
    bundle.mkdir(parents=True)
    glibc = build(bundle, given.packages, chosen, version=version, epoch=epoch)
    _within(bundle, archive.size(bundle), LARGEST)
    if given.folder_only:
        return
    started = time.monotonic()
    packed = given.out / f"{bundle.name}.{chosen.archive}"
    archive.write_tar(bundle, packed, epoch)
    _say(f"{packed}: {packed.stat().st_size / 1e6:.0f} MB, in {time.monotonic() - started:.0f} s")
    started = time.monotonic()
    package = given.out / f"curator_{version}_amd64.deb"
    debian(bundle, package, version=version, glibc=glibc, epoch=epoch)
    _say(f"{package}: {package.stat().st_size / 1e6:.0f} MB, in {time.monotonic() - started:.0f} s")
    for path in (packed, package):
        _within(path, path.stat().st_size, LARGEST_ARCHIVE)


def build(bundle: Path, packages: Path, chosen: Target, *, version: str, epoch: int) -> str:
    """Fill the empty folder `bundle`. Returns the oldest glibc that it runs with."""
    copied = interpreter.copy_python(bundle, chosen)
    stripped = stripping.copy_packages(packages, bundle / chosen.packages)
    _say(f"left out {stripped.files} files, {stripped.size / 1e6:.0f} MB")
    copied |= _for_qt(bundle / chosen.packages / "PySide6" / "Qt" / "lib")
    parts = licences.parts(bundle, bundle / chosen.packages, copied)
    sbom.write_sbom(bundle / "sbom.cdx.json", sbom.sbom("curator", version, parts, epoch=epoch))
    glibc = "{}.{}".format(*elf.oldest_glibc(elf.elf_files(bundle)))
    strip_own_paths(bundle / chosen.packages)
    _compile(bundle, chosen)
    _finish(bundle, chosen, version=version, glibc=glibc, parts=len(parts), epoch=epoch)
    return glibc


def _finish(bundle: Path, chosen: Target, *, version: str, glibc: str, parts: int, epoch: int) -> None:
    """The files at the top, the manifest, and fixed times."""
    facts = {"version": version, "how": "bundle", "glibc": glibc, "commit": _commit(), "parts": parts}
    (bundle / "bundle.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "resources/NOTICE"):
        shutil.copyfile(ROOT / name, bundle / Path(name).name)
    for name in ("curator", "install", "uninstall"):
        text = (INSTALLER / name).read_text(encoding="utf-8")
        text = text.replace("@VERSION@", version).replace("@GLIBC@", glibc).replace("@PYTHON@", chosen.python)
        (bundle / name).write_text(text, encoding="utf-8")
        (bundle / name).chmod(0o755)
    number = archive.write_manifest(bundle)
    archive.normalise(bundle, epoch)
    _say(f"{bundle}: {number} files, {archive.size(bundle) / 1e6:.0f} MB, glibc {glibc}")


def debian(bundle: Path, out: Path, *, version: str, glibc: str, epoch: int) -> None:
    stage = out.with_suffix(".stage")
    shutil.rmtree(stage, ignore_errors=True)
    archive.stage_deb(bundle, stage, version=version, glibc=glibc)
    facts = json.loads((bundle / "bundle.json").read_text(encoding="utf-8")) | {"how": "deb"}
    own = stage / "opt" / "curator" / "bundle.json"
    own.unlink()  # the same file as the bundle's until now
    own.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (stage / "opt" / "curator" / archive.MANIFEST).unlink()
    archive.write_manifest(stage / "opt" / "curator")
    script = (
        "from curator.services.records.installation import add_to_desktop; add_to_desktop(['/opt/curator/curator'])"
    )
    # without a path, none of the desktop's tools is found, whose lists belong to the system that installs
    environment = {**os.environ, "XDG_DATA_HOME": str((stage / "usr" / "share").resolve()), "PATH": ""}
    python = bundle / target().python
    subprocess.run([str(python), "-B", "-c", script], check=True, env=environment)  # noqa: S603
    for path in (stage / "usr").rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    archive.write_deb(stage, out, epoch)
    shutil.rmtree(stage)


def _for_qt(folder: Path) -> dict[Path, Path]:
    plugin = folder.parent / "plugins" / "platforms" / "libqxcb.so"
    places = elf.found(plugin) if plugin.exists() else {}
    copied = {}
    for name in FOR_QT:
        place = places.get(name)
        if place is not None and not (folder / name).exists():
            shutil.copyfile(place, folder / name)
            (folder / name).chmod(0o755)
            elf.set_rpath(folder / name, "$ORIGIN")
            copied[folder / name] = place
    return copied


def strip_own_paths(packages: Path) -> None:
    """Take away what differs from one build to the next, where the packages came from and when, and the licences, which
    are in `licences/` by now."""
    for info in sorted(packages.glob("*.dist-info")):
        for name in ("licenses", "licences"):
            shutil.rmtree(info / name, ignore_errors=True)
        for name in ("direct_url.json", "REQUESTED"):
            (info / name).unlink(missing_ok=True)
        record = info / "RECORD"
        if record.exists():
            lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
            there = [one for one in lines if (info.parent / one.rsplit(",", 2)[0].strip('"')).exists()]
            record.write_text("".join(there), encoding="utf-8")


def _compile(bundle: Path, chosen: Target) -> None:
    """With the bundle's own Python, which is also its first trial."""
    command = [str(bundle / chosen.python), "-I", "-B", str(Path(__file__).with_name("compiling.py"))]
    environment = os.environ | {"PYTHONHASHSEED": "0", "QT_QPA_PLATFORM": "offscreen"}
    command += [str(bundle), str(bundle / chosen.packages)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603


def _version(packages: Path) -> str:
    found = list(packages.glob("curator-*.dist-info"))
    if len(found) != 1:
        raise SystemExit(f"{packages} holds no installed Curator. Run make bundle.")
    return found[0].name.removeprefix("curator-").removesuffix(".dist-info")


def _within(path: Path, size: int, largest: int) -> None:
    if size > largest:
        raise SystemExit(f"{path} has {size / 1e6:.0f} MB, and may have {largest / 1e6:.0f}. See stripping.RULES.")


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.strip() or "unknown"


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
