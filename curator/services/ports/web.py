"""Requests and answers of network clients, from the services' view: no sockets, headers or tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class WebQuestion:
    """`path` is relative to `address`, the service's address, which ends with a slash and contains the token, if there
    is one. `fields` are those of the address and of a submitted form; of repeated fields the last counts."""

    path: str
    fields: Mapping[str, str]
    address: str


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """JSON if `body` is a mapping, else a whole HTML page with all foreign text escaped."""

    body: Mapping[str, Any] | str
    status: HTTPStatus = HTTPStatus.OK


class WebError(Exception):
    """The request cannot be answered; the message gives the reason."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status
