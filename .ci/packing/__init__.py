"""Makes a folder that needs no Python, and from it an archive and a Debian package: `make bundle`.

**A copied Python with its packages, not PyInstaller.** Child processes are `python -m …`
(`curator/jobs/child.py`), which a frozen program lacks; numba and torch read their own sources, and tracebacks name
real lines. PyInstaller was not measured against it.

**The Python is the one that runs `make`**, copied with the libraries that its modules need (`interpreter.py`). No
registry that we use has a Python that can be moved. So the oldest glibc that a bundle runs with is that of the
computer that built it, at least 2.34 for the sake of Qt; it is read from all its files and stored in `bundle.json`.

**Tried**: on a Debian 12 of `debootstrap`, without Python and a compiler, a folder of the stages up to `stripping.py`,
without compiled modules and licences: install, the window from the menu's command, the demo, an index, 20 decisions,
an export, uninstall; and as a Debian package without compression: install, the window, remove. **Not tried**: one whole
run of `make bundle`, a second one to compare with, and a training inside of a bundle.

| module | what it does |
|---|---|
| `target.py` | what differs between Linux, Windows and macOS |
| `interpreter.py` | copies Python |
| `stripping.py` | what of the packages is left out, and why |
| `compiling.py` | compiles the modules that are used |
| `elf.py` | libraries: what they need, and where they look for it |
| `licences.py`, `sbom.py` | licences of everything inside, and its list (CycloneDX) |
| `archive.py` | manifest, `.tar.xz`, `.deb`: the same bytes for the same commit |
| `installer/` | `curator`, `install`, `uninstall`: what the user runs |
"""
