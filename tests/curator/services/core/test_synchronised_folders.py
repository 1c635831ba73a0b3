"""A project in a synchronised folder is warned of once on each computer."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from curator.services.core.synchronised_folders import MOST, place_warning, sync_service
from tests.curator.services.fakes import make_store


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("Dropbox", "Dropbox"),
        ("Dropbox (Lab)", "Dropbox"),
        ("OneDrive - University", "OneDrive"),
        ("Google Drive", "Google Drive"),
        ("GoogleDrive-ada@lab.org", "Google Drive"),
        ("Mobile Documents", "iCloud"),
        ("Nextcloud2", "Nextcloud"),
        ("dropbox papers", ""),
        ("work", ""),
    ],
)
def test_a_service_is_known_by_the_name_of_its_folder(tmp_path: Path, folder: str, service: str) -> None:
    assert sync_service(tmp_path / folder / "a" / "p.curation") == service


def test_a_service_is_known_by_what_it_keeps_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / ".stfolder").mkdir()
    assert sync_service(tmp_path / "shared" / "p.curation") == "Syncthing"
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "shared")
    assert sync_service(tmp_path / "shared" / "p.curation") == "", "a home folder is no sign"


def test_the_warning_comes_once_on_each_computer_and_again_for_another_service(tmp_path: Path) -> None:
    computers: dict[str, Any] = {"desk": None, "laptop": ["damaged"]}
    store = make_store(tmp_path)

    def warning(computer: str, service: str) -> str:
        return place_warning(
            store, lambda: computers[computer], partial(computers.__setitem__, computer), lambda _: service
        )

    try:
        assert place_warning(store, lambda: None, computers.clear) == ""
        for computer in computers:
            assert "that Dropbox synchronises" in warning(computer, "Dropbox")
            assert warning(computer, "Dropbox") == ""
            assert "OneDrive" in warning(computer, "OneDrive")
            assert computers[computer] == {str(store.folder): "OneDrive"}
        computers["desk"] = {**{f"/{n}": "Dropbox" for n in range(MOST)}}
        assert "OneDrive" in warning("desk", "OneDrive")
        assert len(computers["desk"]) == MOST
        with store.read() as unit:
            assert unit.meta.get("warned.synchronised") is None
    finally:
        store.close()
