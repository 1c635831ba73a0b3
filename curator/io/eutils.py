"""NCBI's E-utilities: `esearch` and `efetch` of PubMed, one request per call, with the standard library.

Everything is sent in the body of a POST request: the PMIDs or the query, the program's name, and the API key if there
is one. So neither logs nor errors, which contain addresses, can contain the key. Redirects are refused, since they
would lead to another server. Replies are limited in size and parsed as safely as files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from curator.domain.wording import UserError, tr
from curator.services.ports.pubmed import MOST_FOUND, FoundRecords, NotNowError, PubMedRecords

ADDRESS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
SECONDS = 60.0  # without a byte from the server
MOST_BYTES = 1 << 28  # of one reply; two hundred records take some 5 MB
PAUSE, PAUSE_WITH_KEY = 1 / 3, 1 / 10
_RECORDS = ("PubmedArticle", "PubmedBookArticle")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_NONE_FOUND, _EMPTY = b"ID list is empty", b"<PubmedArticleSet/>"


class Eutils:
    """See `ports.PubMedPort`. `key` is called for every request."""

    def __init__(self, address: str = ADDRESS, *, key: Callable[[], str] = lambda: "") -> None:
        self._address = address.rstrip("/") + "/"
        self._key = key

    @property
    def host(self) -> str:
        return urlsplit(self._address).netloc or self._address

    @property
    def pause(self) -> float:
        return PAUSE_WITH_KEY if self._key().strip() else PAUSE

    def search(self, query: str, *, most: int) -> FoundRecords:
        fields = {"term": query, "retmax": str(max(0, min(most, MOST_FOUND))), "retmode": "json"}
        reply = self._json(self._ask("esearch.fcgi", fields))
        result = reply.get("esearchresult")
        if not isinstance(result, dict):
            raise NotNowError(_said(reply) or tr("a reply that is not a search result"))
        if result.get("ERROR"):
            raise UserError(tr("PubMed cannot search for this: {why}.", why=str(result["ERROR"]).strip(". ")))
        count, pmids = str(result.get("count", "")), result.get("idlist", [])
        if not count.isdecimal() or not isinstance(pmids, list):
            raise NotNowError(tr("a reply that is not a search result"))
        return FoundRecords(int(count), tuple(str(one) for one in pmids if str(one).isdecimal()))

    def records(self, pmids: Sequence[str]) -> PubMedRecords:
        return _records(self._ask("efetch.fcgi", {"id": ",".join(pmids), "retmode": "xml"}))

    def _ask(self, name: str, fields: Mapping[str, str]) -> bytes:
        """The body of the reply; an empty set if PubMed reports that none of the PMIDs exists."""
        from http.client import HTTPException  # imported, with its dependencies, when the network is used
        from urllib.error import HTTPError
        from urllib.request import Request, build_opener

        key = self._key().strip()
        sent = {"db": "pubmed", "tool": "curator", **fields, **({"api_key": key} if key else {})}
        request = Request(self._address + name, urlencode(sent).encode(), {"User-Agent": "curator"})  # noqa: S310
        try:
            with build_opener(_refusing()).open(request, timeout=SECONDS) as reply:
                return _bounded(reply)
        except HTTPError as error:
            with error:
                said = error.read(1 << 16)
            if error.code == 400 and _NONE_FOUND in said:
                return _EMPTY
            raise self._refused(error.code, error.headers.get("Retry-After"), said) from None
        except (OSError, HTTPException) as error:
            raise NotNowError(str(getattr(error, "reason", "") or error) or type(error).__name__) from None

    def _refused(self, code: int, after: str | None, said: bytes) -> Exception:
        try:
            words = _said(self._json(said))
        except NotNowError:
            words = ""
        if code in _BUSY or "rate limit" in words:
            return NotNowError(words or f"HTTP {code}", _seconds(after))
        return UserError(
            tr(
                "{host} rejected the request ({words}). Check the query, and the API key in Edit › Settings.",
                host=self.host,
                words=words or f"HTTP {code}",
            )
        )

    def _json(self, data: bytes) -> Mapping[str, Any]:
        try:
            reply = json.loads(data)
        except (ValueError, RecursionError):
            raise NotNowError(tr("a reply that is not JSON")) from None
        return reply if isinstance(reply, dict) else {}


def _refusing() -> Any:
    from urllib.request import HTTPRedirectHandler

    class NoRedirection(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return NoRedirection()


def _bounded(reply: Any) -> bytes:
    """The whole body. Raises NotNowError if it is incomplete, which a limited read does not detect."""
    data: bytes = reply.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NotNowError(tr("a reply of more than {size} MB", size=MOST_BYTES >> 20))
    if reply.length:  # bytes that are still missing
        raise NotNowError(tr("an incomplete reply"))
    return data


def _said(reply: Mapping[str, Any]) -> str:
    return str(reply.get("error") or reply.get("ERROR") or "").strip()[:200]


def _seconds(after: str | None) -> float | None:
    """The seconds of a `Retry-After`, which holds seconds or a date."""
    from email.utils import parsedate_to_datetime

    if after is None:
        return None
    if after.strip().isdecimal():
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except ValueError:
        return None


def _records(data: bytes) -> PubMedRecords:
    """The records in a `PubmedArticleSet`. Raises NotNowError for anything else, which efetch sends if it fails."""
    from lxml import etree

    from curator.io.files.xml_stream import safe_xml

    try:
        root = etree.fromstring(data, safe_xml())
    except etree.XMLSyntaxError:
        raise NotNowError(tr("a reply with incomplete XML")) from None
    if root.tag != "PubmedArticleSet":
        raise NotNowError(" ".join("".join(root.itertext()).split())[:200] or tr("a reply without records"))
    subset = root.getroottree().docinfo.internalDTD
    if subset is not None and any(True for _ in subset.iterentities()):
        raise UserError(tr("PubMed's reply declares XML entities, which Curator does not read. Nothing was kept."))
    found = [one for one in root if one.tag in _RECORDS]
    pmids = tuple(" ".join((one.findtext(".//PMID") or "").split()) for one in found)
    return PubMedRecords(pmids, b"\n".join(etree.tostring(one, encoding="utf-8", with_tail=False) for one in found))
