"""Where Curator is installed and how, and packages of others by the names of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.services.records.installation import How, check_packages, this_installation
from curator.services.records.installation import this_installation as face

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("files", "how"),
    [
        ({}, How.WHEEL),
        ({"pipx_metadata.json": "{}"}, How.PIPX),
        ({"uv-receipt.toml": ""}, How.UV),
        ({"../bundle.json": json.dumps({"how": "bundle"})}, How.BUNDLE),
        ({"../bundle.json": json.dumps({"how": "deb"})}, How.DEB),
        ({"../bundle.json": "half of {"}, How.BUNDLE),
    ],
)
def test_how(tmp_path: Path, files: dict[str, str], how: How) -> None:
    prefix = tmp_path / "python"
    prefix.mkdir()
    for name, text in files.items():
        (prefix / name).write_text(text, encoding="utf-8")
    found = this_installation(prefix, prefix / "lib")
    assert found.how is how
    if how in (How.BUNDLE, How.DEB):
        assert (found.folder, found.launcher) == (tmp_path, (str(tmp_path / "curator"),))
    else:
        assert (found.folder, found.launcher) == (prefix, (sys.executable, "-m", "curator"))


def test_these_tests_run_from_a_clone() -> None:
    assert face().how is How.CLONE
    assert face().folder == ROOT


def test_our_own_packages_are_ours() -> None:
    check_packages()


def test_a_package_of_another_distribution_is_named(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "gym-9.dist-info").mkdir()
    (tmp_path / "gym-9.dist-info" / "METADATA").write_text("Name: gym\nVersion: 9\n", encoding="utf-8")
    (tmp_path / "gym-9.dist-info" / "top_level.txt").write_text("training\n", encoding="utf-8")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from curator.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "“training”" in done.stderr
    assert "that of gym" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_without_a_distribution_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "models" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "models", raising=False)
    with pytest.raises(UserError, match="another folder"):
        check_packages()


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.services.records.installation.PACKAGES", ("curator_models_that_are_not_there",))
    with pytest.raises(UserError, match=r"is missing or incomplete in .*Install Curator again"):
        check_packages()
