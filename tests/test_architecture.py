"""Who may import whom, read from the source and from a running window process."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "transformers", "faiss", "sklearn", "sentence_transformers")
CHILD_MAINS = sorted((ROOT / "curator/jobs").glob("*_main.py"))

# package -> what of ours it may import (longest prefix of the importing module wins)
ALLOWED = {
    "curator.domain": ("curator.domain",),
    "curator.services": ("curator.services", "curator.domain"),
    "curator.storage": ("curator.storage", "curator.services.ports", "curator.domain"),
    "curator.io": ("curator.io", "curator.services.ports", "curator.domain"),
    "curator.jobs": ("curator.jobs", "curator.services.ports", "curator.domain"),
    "curator.settings": ("curator.settings", "curator.domain"),
    "curator.commands": ("curator.commands", "curator.services", "curator.domain", "curator.settings"),
    "curator.ui": (
        "curator.ui",
        "curator.commands",
        "curator.services",
        "curator.domain",
        "curator.settings",
        "resources",
    ),
    "curator.cli": (
        "curator.cli",
        "curator.bootstrap",
        "curator.services",
        "curator.settings",
        "curator.domain",
        "resources",
    ),
    "training": ("training", "models", "resources"),
    "models": ("models",),
    "resources": ("resources",),
}
# one line each, with the reason
EXCEPTIONS = {
    ("curator.cli", "curator.ui"): "`curator open` starts the window, imported on request",
    ("curator.ui", "curator.bootstrap"): "the window gets its Project type, opens another project and writes files",
    ("curator.ui.shell.manual", "curator.help_tables"): "the manual's tables describe every part of the program",
    ("curator.services", "resources"): "recipes and the demo projects are read as data",
    ("curator.services.ports.storage", "curator.storage"): "the types of the repositories of a unit of work",
    ("curator.services.core.keys", "curator.storage"): "the type of the repository of small values",
}
OURS = ("curator", "models", "training", "resources")
COMMON = (
    "curator.__version__",
    "curator.boundary",
    "curator.foreign_files",
    "curator.opened_late",
    "curator.temporary",
    "curator.tracing",
)  # import nothing of ours


def modules() -> list[Path]:
    return sorted(p for top in OURS for p in (ROOT / top).rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Lines and names of all that a module imports; each module is parsed once."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} uses a relative import"
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def test_imports_go_one_way() -> None:
    wrong = []
    for path in modules():
        module = name_of(path)
        rule = max((p for p in ALLOWED if within(module, p)), key=len, default=None)
        if rule is None or path in CHILD_MAINS:
            continue  # bootstrap joins everything; child processes are checked below
        wrong += [f"{path}:{line} {module} imports {t}" for line, t in imports(path) if not may_import(module, rule, t)]
    assert not wrong, "\n".join(wrong)


def may_import(module: str, rule: str, target: str) -> bool:
    """What is not ours, what the rule names, and the exceptions."""
    if not any(within(target, top) for top in OURS) or target in OURS or any(within(target, one) for one in COMMON):
        return True
    parent = target.rpartition(".")[0]
    allowed = any(within(target, p) or parent == p for p in ALLOWED[rule])
    return allowed or any(within(module, a) and within(target, b) for a, b in EXCEPTIONS)


def test_only_child_processes_name_heavy_libraries() -> None:
    wrong = [
        f"{path}:{line} imports {target}"
        for path in modules()
        if not any(within(name_of(path), top) for top in ("models", "training")) and path not in CHILD_MAINS
        for line, target in imports(path)
        if target.partition(".")[0] in (*HEAVY, "models", "training")
    ]
    assert not wrong, "\n".join(wrong)


def test_domain_is_standard_library_only() -> None:
    wrong = [
        f"{path}:{line} {target}"
        for path in sorted((ROOT / "curator/domain").glob("*.py"))
        for line, target in imports(path)
        if target.partition(".")[0] not in sys.stdlib_module_names and not within(target, "curator.domain")
    ]
    assert not wrong, "\n".join(wrong)


SQL = {"sqlalchemy", "sqlite_utils", "psycopg"}


def test_sqlalchemy_stays_in_storage() -> None:
    wrong = [
        f"{path}:{line} {target}"
        for path in modules()
        for line, target in imports(path)
        if target.partition(".")[0] in SQL and not within(name_of(path), "curator.storage")
    ]
    assert not wrong, "\n".join(wrong)


def test_the_window_process_never_loads_heavy_libraries() -> None:
    """Everything that the window imports, imported for real in a fresh interpreter."""
    names = [
        name_of(p)
        for p in modules()
        if within(name_of(p), "curator") and p not in CHILD_MAINS and not name_of(p).endswith("__main__")
    ]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"bad = sorted(set({HEAVY!r}) & set(sys.modules))\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
