"""Copies the Python that runs this into the bundle, with the libraries that its modules need."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from packing import elf
from packing.target import Target

LEFT_OUT = {
    "site-packages": "other packages of this computer",
    "dist-packages": "other packages of this computer",
    "test": "Python's own tests",
    "idlelib": "an editor",
    "tkinter": "another toolkit",
    "turtledemo": "another toolkit",
    "turtle.py": "another toolkit",
    "distutils": "installs packages",
    "lib2to3": "a converter of Python 2",
    "ensurepip": "installs pip",
    "pydoc_data": "texts of the interactive help",
    "__pycache__": "compiled later, all at once",
    "sitecustomize.py": "we write our own",
}
LEFT_OUT_MODULES = ("_tkinter", "nis", "ossaudiodev", "_crypt", "_gdbm", "_dbm", "readline", "_curses", "_test", "_xx")

SITE = '''"""The bundle uses its own packages only: none of the user's, and of no other Python."""

import os
import site
import sys

_own = os.path.join(sys.prefix, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
_here = os.path.join(sys.prefix, "")
sys.path[:] = [one for one in sys.path if not one.endswith(("-packages",)) or one.startswith(_here)]
if _own not in sys.path:
    sys.path.append(_own)
site.ENABLE_USER_SITE = False
'''


def copy_python(bundle: Path, target: Target) -> dict[Path, Path]:
    """Write `python/` into the bundle. Returns the copied libraries of the system, each with its origin."""
    executable = bundle / target.python
    library = bundle / Path(target.packages).parent
    executable.parent.mkdir(parents=True)
    shutil.copyfile(_base_executable(), executable)
    executable.chmod(0o755)
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=_left_out, symlinks=False)
    _add_dynload(library)
    (library / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    (bundle / target.packages).mkdir(exist_ok=True)
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        name = sysconfig.get_config_var("INSTSONAME")
        shutil.copyfile(Path(sysconfig.get_config_var("LIBDIR")) / name, library.parent / name)
        (library.parent / name).chmod(0o755)
    return _own_libraries(executable, library)


def _base_executable() -> Path:
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _left_out(folder: str, names: list[str]) -> set[str]:
    """For `copytree`: what is not copied, and what points to nowhere."""
    out = {one for one in names if one in LEFT_OUT or one.startswith("config-") or one.startswith(LEFT_OUT_MODULES)}
    return out | {one for one in names if not os.path.exists(os.path.join(folder, one))}  # noqa: PTH110, PTH118


def _add_dynload(library: Path) -> None:
    """Where the modules written in C are kept elsewhere."""
    own = library / "lib-dynload"
    if not own.exists():
        shutil.copytree(Path(sysconfig.get_path("platstdlib")) / "lib-dynload", own, ignore=_left_out)


def _own_libraries(executable: Path, library: Path) -> dict[Path, Path]:
    """Copy what the interpreter and its modules need beyond glibc to `python/lib`, and let them look there."""
    folder = library.parent
    modules = [executable, *sorted(folder.glob("libpython*.so*")), *elf.elf_files(library / "lib-dynload")]
    copied: dict[Path, Path] = {}
    for module in modules:
        for name, place in elf.foreign(module).items():
            if not (folder / name).exists():
                shutil.copyfile(place, folder / name)
                (folder / name).chmod(0o755)
                copied[folder / name] = place
    for path in copied:
        elf.set_rpath(path, "$ORIGIN")
    for module in modules:
        elf.strip_symbols(module)
        elf.set_rpath(module, f"$ORIGIN/{os.path.relpath(folder, module.parent)}")
    return copied
