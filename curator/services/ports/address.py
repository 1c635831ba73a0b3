"""The address of a shared project: a PostgreSQL database, written as `postgresql://[user@]host[:port]/base`.

Only the address is stored and shown, so it never contains a password: libpq has its own places for passwords.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from curator.domain.wording import UserError, tr

SCHEMES = ("postgresql", "postgres")
OPTIONS = frozenset({"host", "port", "service", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"})
"""Parameters allowed after a question mark. Others, such as `options`, could change the connection's behaviour."""
_BEGIN = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)
FORM = "{text} is not the address of a shared project. Write it as postgresql://user@host/base."
NO_SECRETS = (
    "The address of a shared project must not contain a password: addresses are shown and remembered. Put the password "
    "into ~/.pgpass, a service file or PGPASSWORD, and write the address without it."
)
OPTION = "{name} cannot be set in the address of a shared project. Allowed: {names}."


@dataclass(frozen=True, slots=True)
class SharedAddress:
    """`text` is the address as written; `base` is its database, '' if a service names it."""

    text: str
    base: str

    @classmethod
    def parse(cls, text: str) -> SharedAddress:
        """Raises UserError for anything but the address of a database, and for one with a password."""
        try:
            parts = urlsplit(text)
            port, password = parts.port, parts.password
        except ValueError as error:
            raise UserError(tr(FORM, text=_without_secret(text))) from error
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        if password is not None or "password" in options:
            raise UserError(tr(NO_SECRETS))
        base = unquote(parts.path.removeprefix("/"))
        named = base or "service" in options
        if parts.scheme.lower() not in SCHEMES or not named or "/" in base or parts.fragment or port == 0:
            raise UserError(tr(FORM, text=_without_secret(text)))
        for name in options:
            if name not in OPTIONS:
                raise UserError(tr(OPTION, name=name, names=", ".join(sorted(OPTIONS))))
        return cls(text, base)

    @property
    def name(self) -> str:
        """The project's name in the window before it is open."""
        return self.base or self.text

    def __str__(self) -> str:
        return self.text


ProjectPlace: TypeAlias = Path | SharedAddress
"""A project in a folder, or a shared one."""


def is_address(text: str) -> bool:
    """Whether this is meant as an address, valid or not."""
    return _BEGIN.match(text) is not None


def _without_secret(text: str) -> str:
    return re.sub(r"//[^@/]*@", "//…@", text)
