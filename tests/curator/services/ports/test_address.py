from __future__ import annotations

import pytest

from curator.domain.wording import UserError
from curator.services.ports.address import SharedAddress, is_address


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("postgresql://db.example.org/curation", "curation"),
        ("postgres://ada@db:5433/caf%C3%A9?sslmode=verify-full", "café"),
        ("postgresql:///curation?host=/run/postgresql", "curation"),
        ("postgresql://?service=team", ""),
    ],
)
def test_an_address_names_a_database(text, base):
    found = SharedAddress.parse(text)
    assert (found.base, str(found)) == (base, text)
    assert is_address(text)


@pytest.mark.parametrize(
    "text",
    ["postgresql://host", "postgresql://host/", "postgresql://host:99999999/b", "postgresql://host/a/b", "x://h/b"],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UserError, match="is not the address of a shared project"):
        SharedAddress.parse(text)


@pytest.mark.parametrize("text", ["postgresql://ada:secret@host/b", "postgresql://ada@host/b?password=secret"])
def test_an_address_with_a_password_is_refused_without_repeating_it(text):
    with pytest.raises(UserError, match="must not contain a password") as caught:
        SharedAddress.parse(text)
    assert "secret" not in str(caught.value)


def test_a_password_is_not_repeated_with_an_address_that_cannot_be_read():
    with pytest.raises(UserError, match="is not the address") as caught:
        SharedAddress.parse("postgresql://ada:secret@host:nine/b")
    assert "secret" not in str(caught.value)


def test_options_that_change_what_a_connection_does_are_refused():
    with pytest.raises(UserError, match="options cannot be set"):
        SharedAddress.parse("postgresql://host/b?options=-c%20search_path%3Dpublic")


def test_a_folder_is_no_address():
    assert not is_address("/home/ada/trial.curation")
    assert not is_address("C:\\postgresql\\trial.curation")
