"""What a program on the network asks and gets, as services see it: no sockets, headers or tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class WebQuestion:
    """`path` is below `address`, the service's own, which ends with a slash and holds the token, if there is one.
    `fields` are those of the address and of a form that was sent, each once: the last one counts."""

    path: str
    fields: Mapping[str, str]
    address: str


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """JSON where `body` is a mapping, else a whole page of HTML in which every word of others is escaped."""

    body: Mapping[str, Any] | str
    status: HTTPStatus = HTTPStatus.OK


class WebError(Exception):
    """The question cannot be answered; the text says what is wrong with it."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status
