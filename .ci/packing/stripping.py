"""What of the installed packages is left out of a bundle: what nothing imports or loads."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from packing import elf

# Patterns of paths below site-packages, each with its reason. A folder that matches goes with all that is in it.
RULES: dict[str, str] = {
    r".*\.(a|lib|la|pc|cmake|h|hpp|cuh|pxd|pyx|pxi|f90|c|cpp|cu)": "for compilers",
    r".*\.pyi": "for type checkers",
    r".*/__pycache__": "compiled later, all at once",
    r"(numpy|scipy|sklearn|sympy|numba|lxml|mpmath|llvmlite|regex)(/.+)?/tests": "tests of the package",
    r"(torch|fsspec|greenlet|joblib|pyarrow|openpyxl)/tests?": "tests of the package",
    r"sqlalchemy/testing": "tests of the package",
    r"numba/testing": "tests of the package",
    r"torch/testing/_internal/(?!__init__|common_dtype|logging_tensor|distributed).*": "tests",
    r"torch/testing/_internal/distributed/(.*_test\.py|rpc)": "tests",
    r"torch/(include|share)": "headers",
    r"torch/bin/(protoc.*|test_.*|.*_test|FileStoreTest|HashStoreTest|TCPStoreTest)": "compilers and tests",
    r"torch/_inductor/(codegen|fx_passes|kernel|autoheuristic|template_heuristics)": "compiles networks",
    r"torch/_inductor/(ir|scheduler|lowering|select_algorithm|codecache|compile_fx|graph|cudagraph_trees|comms)\.py": (
        "compiles networks"
    ),
    r"torch/_vendor/quack": "kernels of GPUs",
    r"torchgen/(aoti|api|dest|gen.*|operator_versions|packaged|selective_build|static_runtime)": "writes sources",
    r"numba/cuda": "compiles for GPUs; ours is for the processor",
    r"numpy/distutils": "for compilers",
    r"networkx(-.*)?": "graphs, for torch's compiler",
    r"sympy/(physics|stats)": "formulas, of which torch needs others",
    r"torch/lib/lib(torchbind_test|jitbackend_test|backend_with_compiler|caffe2_.*_test).*": "tests",
    r"(pip|setuptools|pkg_resources|_distutils_hack|wheel)(-.*)?": "installs packages, which a bundle does not",
    r"distutils-precedence\.pth": "of setuptools",
    r"bin": "scripts of the packages",
    r"(typer|pydantic|pydantic_core)(-.*)?": "commands of other packages",
    r"(huggingface_hub|transformers)/cli": "commands of other packages",
    r"share": "manual pages of commands that are left out",
    r"transformers/exporters|huggingface_hub/inference": "for other programs and servers",
    r"pygments/lexers/(?!__init__|_mapping|python|special).*": "colours for programming languages",
    r"sqlalchemy/dialects/(mssql|mysql|oracle)": "databases that Curator does not use",
    r"sentence_transformers(-.*)?": "named by the encoder's package, of which only the weights are read",
    r"PySide6/(include|typesystems|glue|doc|scripts|support|assistant|designer|linguist|balsam.*|qml.*|qsb)": "tools",
    r"PySide6/(l(release|update)|rcc|uic|svgtoqml|deploy.*)": "tools",
    r"PySide6/Qt/(qml|libexec|metatypes|include|phrasebooks|resources)": "tools, and another kind of window (QML)",
    r"PySide6/Qt/translations/(assistant|designer|linguist|qtdeclarative|qtquick|qtmultimedia|qtserial).*": "of tools",
    r"PySide6/Qt/plugins/(qmltooling|qmllint|qmlls|designer|sqldrivers|printsupport|scenegraph|help)": "of tools",
    r"PySide6/Qt/plugins/platforms/libq(eglfs|linuxfb|vnc|vkkhrdisplay|minimalegl).*": "screens without a desktop",
    r"PySide6/Qt/plugins/egldeviceintegrations": "screens without a desktop",
    r"PySide6/Qt/plugins/(wayland-graphics-integration-server|vectorimageformats)": "for programs of another kind",
    r"PySide6/Qt/plugins/platforminputcontexts/libqtvirtualkeyboard.*": "a keyboard on the screen, made with QML",
    r"PySide6/Qt/translations/(?!qtbase_(de|en)).*": "languages that Curator does not speak",
    r"sklearn/datasets/(data|images|descr)": "data sets",
    r"hf_xet(-.*)?": "downloads from a server that Curator never asks",
    r"shiboken6_generator.*": "a generator",
}
TEXT_ENCODERS = re.compile(
    "albert|auto|bert|bert_generation|bert_japanese|bertweet|big_bird|camembert|canine|convbert|data2vec|deberta|"
    "deberta_v2|distilbert|electra|encoder_decoder|ernie|esm|fnet|funnel|herbert|ibert|longformer|luke|megatron_bert|"
    "mobilebert|modernbert|mpnet|mra|nomic_bert|nystromformer|phobert|rembert|roberta|roberta_prelayernorm|roc_bert|"
    "roformer|squeezebert|xlm|xlm_roberta|xlm_roberta_xl|xlnet|xmod|yoso"
)
"""Of transformers' networks, those that encode text; the others are of images, sound and generation."""
NETWORKS = ("modeling_", "modular_", "convert_", "image_processing_", "video_processing_")
SYMBOLS = re.compile(
    r"torch/lib/lib.*\.so|torch/_C\..*|llvmlite/binding/.*\.so|PySide6/Qt/lib/libicu.*|"
    r"(msgpack|mwparserfromhell|numba|pyoxigraph|regex|safetensors|sqlalchemy|tokenizers|yaml)/.*\.so"
)
"""Libraries with symbols that only a debugger and a linker read: a quarter of PyTorch's. Files that `auditwheel`
changed are not among them: `strip` can damage those."""
QT_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtDBus", "QtNetwork", "QtTest")
"""What the window imports, and what Qt's own plugins are bound to."""

_RULES = re.compile("|".join(f"(?:{rule})" for rule in RULES))


@dataclass(frozen=True)
class Stripped:
    files: int
    size: int


def is_left_out(relative: str) -> bool:
    """Whether a path below site-packages, with `/`, is left out."""
    if _RULES.fullmatch(relative) is not None:
        return True
    parts = relative.split("/")
    if len(parts) != 4 or parts[:2] != ["transformers", "models"] or TEXT_ENCODERS.fullmatch(parts[2]):
        return False  # settings and tokenizers of all are imported when one is looked for
    return parts[3].startswith(NETWORKS)


def copy_packages(source: Path, to: Path) -> Stripped:
    """Copy a site-packages folder without what the rules leave out, then without the parts of Qt that nothing loads."""
    files = size = 0

    def ignored(folder: str, names: list[str]) -> set[str]:
        nonlocal files, size
        below = Path(folder).relative_to(source)
        out = {one for one in names if is_left_out((below / one).as_posix())}
        for one in out:
            for path in [Path(folder, one), *Path(folder, one).rglob("*")]:
                if path.is_file() and not path.is_symlink():
                    files, size = files + 1, size + path.stat().st_size
        return out

    shutil.copytree(source, to, ignore=ignored, dirs_exist_ok=True)
    removed = strip_qt(to / "PySide6")
    for path in elf.elf_files(to):
        if SYMBOLS.fullmatch(path.relative_to(to).as_posix()):
            size += elf.strip_symbols(path)
    return Stripped(files + len(removed), size + sum(removed.values()))


def strip_qt(folder: Path, needs: Callable[[Path], list[str]] = elf.needed) -> dict[str, int]:
    """Remove Qt's Python modules but `QT_MODULES`, then each library that nothing left needs; their sizes by name."""
    if not folder.is_dir():
        return {}
    removed: dict[str, int] = {}
    for module in sorted(folder.glob("Qt*.abi3.so")):
        if module.name.split(".")[0] not in QT_MODULES:
            removed[module.name] = _remove(module)
    own = list(folder.glob("lib*.so*"))
    libraries = {one.name: one for one in sorted([*own, *(folder / "Qt" / "lib").glob("*.so*")])}
    wanted: set[str] = set()
    roots = [*folder.glob("Qt*.abi3.so"), *(folder / "Qt" / "plugins").rglob("*.so")]
    for plugin in roots:
        wanted |= set(needs(plugin)) & set(libraries)
    waiting = list(wanted)
    while waiting:
        for name in set(needs(libraries[waiting.pop()])) & set(libraries) - wanted:
            wanted.add(name)
            waiting.append(name)
    for name, path in libraries.items():
        if name not in wanted:
            removed[name] = _remove(path)
    return removed


def _remove(path: Path) -> int:
    size = path.lstat().st_size
    path.unlink()
    return size
