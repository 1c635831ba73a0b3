import subprocess
import sys

import pytest

from models.encoders import default_encoder
from models.errors import ModelError
from models.linker.build import build_untrained


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "{'torch', 'transformers', 'faiss', 'sklearn', 'scipy', 'numpy'}"
    code = f"import sys, models; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_default_encoder_is_the_recorded_one() -> None:
    folder = default_encoder.default_encoder_folder()
    assert (folder / "model.safetensors").is_file()


def test_a_missing_or_altered_default_encoder_is_told(monkeypatch) -> None:
    monkeypatch.setattr(default_encoder, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ModelError, match="was modified"):
        default_encoder.default_encoder_folder()
    monkeypatch.setattr(default_encoder, "VERSION", "9.9")
    with pytest.raises(ModelError, match=r"version 9\.9 is needed"):
        default_encoder.default_encoder_folder()
    monkeypatch.setattr(default_encoder, "MODULE", "no_such_module_here")
    with pytest.raises(ModelError, match="not installed"):
        default_encoder.default_encoder_folder()


def test_building_yields_progress_and_refuses_unknown_stages(tmp_path) -> None:
    with pytest.raises(ModelError, match="Unknown untrained stage"):
        list(build_untrained(tmp_path / "kb.jsonl", tmp_path, stages=("magic",)))


def test_a_folder_that_cannot_be_written_is_told(tmp_path) -> None:
    kb = tmp_path / "kb.jsonl"
    kb.write_text('{"id": "a", "name": "pain"}\n')
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ModelError, match="Cannot write to"):
        list(build_untrained(kb, blocked / "staging", stages=("lexical",)))
    assert blocked.read_text() == "not a folder"
