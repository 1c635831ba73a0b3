"""Makes a folder that needs no Python, and from it an archive and a Debian package: `make bundle`.

**A copied Python with its packages, not PyInstaller.** Child processes are `python -m …`
(`curator/jobs/child.py`), which a frozen program lacks; numba and torch read their own sources, and tracebacks name
real lines. PyInstaller was not measured. It has little to gain: the bundle's window takes as much processor time to
start as a venv's (0.36 s each, medians of nine starts in turns), and two thirds of the size are libraries, which
PyInstaller copies, too.

**The Python is the one that runs `make`**, copied with the libraries that its modules need (`interpreter.py`). No
registry that we use has a Python that can be moved. So the oldest glibc that a bundle runs with is that of the
computer that built it, at least 2.34 for the sake of Qt; it is read from all its files and stored in `bundle.json`.

**Size**: 14,600 files of 1.26 GB, which take 1.30 GB of disk. `make bundle` fails above 1.3 GB, or 450 MB packed.
`stripping.RULES` lists what is left out, with the reasons.

**Two builds of one commit** have the same files with the same bytes, in any folder, if one computer made them with the
same packages. Another computer has other libraries of the system, which are copied, and another `strip`.

**Tried** on a Debian 12 of `debootstrap`, without Python and a compiler: install, the window from the menu's command,
the demo, 21 decisions by key, a training to its verdict, an export, uninstall; a home without space, a read-only home,
a home with spaces and Cyrillic letters, two versions side by side, a program that runs while it is replaced or removed;
on a Debian 11, glibc 2.31. **Not tried**: another distribution, Wayland.

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
