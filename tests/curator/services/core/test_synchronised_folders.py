"""A project in a synchronised folder is warned of once."""

from pathlib import Path

import pytest

from curator.services.core import place_warning, sync_service
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


def test_the_warning_comes_once_and_again_for_another_service(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    try:
        assert place_warning(store) == ""
        assert "that Dropbox synchronises" in place_warning(store, lambda _: "Dropbox")
        assert place_warning(store, lambda _: "Dropbox") == ""
        assert "OneDrive" in place_warning(store, lambda _: "OneDrive")
    finally:
        store.close()
