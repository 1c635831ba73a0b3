"""NCBI's E-utilities as a server of this computer: a few records, and the failures that a test asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>Title of {pmid}, \
\u03b2-<i>catenin</i> \U0001f600.</ArticleTitle><Abstract><AbstractText Label="AIMS">Text {pmid}.</AbstractText>\
</Abstract>\
</Article></MedlineCitation></PubmedArticle>"""
DTD = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/x.dtd">'


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class FakePubMed:
    """`asked` are the requests, by the program's name and their fields; `first` are replies given before others."""

    address: str = ""
    pmids: list[str] = field(default_factory=list)
    first: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def fetched(self) -> list[list[str]]:
        """The PMIDs of each efetch."""
        return [fields["id"].split(",") for name, fields in self.asked if name == "efetch.fcgi"]

    def reply(self, name: str, fields: Mapping[str, str]) -> Reply:
        if self.first:
            return self.first.pop(0)
        if name == "esearch.fcgi":
            ids = self.pmids[: int(fields["retmax"])]
            return Reply(body=json.dumps({"esearchresult": {"count": str(len(self.pmids)), "idlist": ids}}))
        wanted = set(fields["id"].split(","))
        if not wanted & set(self.pmids):
            return Reply(400, '{"error":"ID list is empty! Possibly it has no correct IDs."}')
        articles = "\n".join(ARTICLE.format(pmid=one) for one in self.pmids if one in wanted)
        return Reply(body=f'<?xml version="1.0" ?>\n{DTD}\n<PubmedArticleSet>\n{articles}\n</PubmedArticleSet>')


@contextmanager
def serving(count: int) -> Iterator[FakePubMed]:
    """A server with the records 1 to `count`, until the block ends."""
    fake = FakePubMed(pmids=[str(n) for n in range(1, count + 1)])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.address = f"http://127.0.0.1:{server.server_port}/entrez/eutils/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(fake: FakePubMed) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            fields = {key: values[0] for key, values in parse_qs(body).items()}
            name = self.path.rpartition("/")[2]
            fake.asked.append((name, fields))
            fake.lines.append(self.requestline)
            fake.before()
            reply = fake.reply(name, fields)
            content = reply.body.encode()
            self.send_response(reply.status)
            for key, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, *args: object) -> None:
            """Silent."""

    return Handler
