"""Encoders named as on the Hugging Face hub, found among the files that other programs have fetched already."""

from __future__ import annotations

import re
from pathlib import Path

from models.errors import ModelError
from models.wording import say

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def find_folder(chosen: Path | str) -> Path:
    """The folder itself; for a name like "organisation/model" its newest snapshot in the local Hugging Face cache.

    Nothing is fetched. Raises ModelError where there is neither.
    """
    folder = Path(chosen).expanduser()
    if folder.is_dir():
        return folder
    name = Path(chosen).as_posix()
    if not HUB_NAME.fullmatch(name):
        raise ModelError(
            say("There is no encoder folder {folder}. Choose the folder of a BERT-family encoder.", folder=folder)
        )
    return _snapshot(name)


def _snapshot(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise ModelError(
            say(
                "There is no encoder folder {name}, and the Hugging Face encoder of this name is not on this "
                "computer. Curator fetches nothing by itself; fetch it with: hf download {name} (then choose it "
                "by its name), or choose a folder.",
                name=name,
            )
        ) from error
