"""What is made to harm is refused with a sentence, or read without harm, by every reader of XML and of archives."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.files import source
from curator.io.registry import default_registry

Put = Callable[..., Path]
SEEDS = Path(__file__).resolve().parents[3] / "fuzz/seeds"
BIOC = (
    "<collection><source>s</source><date>d</date><key>k</key><document><id>1</id><passage><offset>0</offset>"
    "<text>Naloxone here.</text></passage></document></collection>"
)
CAS = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0"><cas:Sofa '
    'xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="Naloxone here."/>'
    '<cas:View sofa="1" members=""/></xmi:XMI>'
)


def seed(name: str) -> str:
    return (SEEDS / name).read_text(encoding="utf-8")


XML = {
    "bioc-xml": (BIOC, "Naloxone"),
    "xmi": (CAS, "Naloxone"),
    "pubmed-xml": (seed("pubmed-xml/p.xml"), "To see"),
    "mediawiki": (seed("mediawiki/dump.xml"), "was [["),
    "kb-mediawiki": (seed("kb-mediawiki/dump.xml"), "was [["),
    "kb-mesh-xml": (seed("kb-mesh-xml/descriptors.xml"), "Only one"),
    "kb-owl": (seed("kb-owl/x.owl"), "uno"),
    "kb-skos": (seed("kb-skos/x.rdf"), "uno"),
}
"""For each reader of XML a file, and some text of it that a reference is put before."""

BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 20}">' for n in range(10))


def read(path: Path, name: str) -> str:
    """All that is read, as one text. Raises UserError."""
    if name.startswith("kb-"):
        return repr(list(default_registry().open_kb(path)))
    return repr(list(default_registry().by_name(name).open(path)))


def outcome(path: Path, name: str) -> str:
    """What is read, or the sentence that refuses it, without the file's name."""
    try:
        return read(path, name)
    except UserError as error:
        return f"refused: {error}".replace(str(path), "")


def without_type(name: str) -> str:
    """The file without XML declaration and document type."""
    rest = XML[name][0]
    if rest.startswith("<?xml"):
        rest = rest.partition("?>")[2].lstrip()
    if rest.startswith("<!DOCTYPE"):
        rest = rest.partition("]>" if "[" in rest.partition(">")[0] else ">")[2]
    return rest


def with_entities(name: str, declared: str, reference: str) -> str:
    """The file with declarations of its own, and a reference in one of its texts."""
    before = XML[name][1]
    assert before in without_type(name)
    own = '<!ENTITY obo "http://purl.obolibrary.org/obo/">'
    return f"<!DOCTYPE x [{own}{declared}]>{without_type(name).replace(before, reference + before, 1)}"


def test_every_reader_of_xml_is_here() -> None:
    """A new one is to be added above: formats whose own files begin with a tag."""
    titles = {form.name: form.title for form in default_registry().formats()}
    titles |= {f"kb-{name}": title for name, title in default_registry().knowledge_bases()}
    marked = {name for name, title in titles.items() if "XML" in title or "OWL" in title or "XMI" in title}
    assert marked <= set(XML)


@pytest.mark.parametrize("name", XML)
def test_the_file_is_read_as_it_is(put: Put, name: str) -> None:
    text, before = XML[name]
    assert before.rstrip("[ ") in read(put(text), name)


REFUSED = (
    "declares XML entities",
    "has a document type",
    "amplification",
    "Attribute references external entity",
    "no root <mediawiki>",
    "is not a knowledge base",
)
"""How a file with entities may be refused."""


@pytest.mark.parametrize("name", XML)
def test_an_entity_bomb_does_not_go_off(put: Put, name: str) -> None:
    found = outcome(put(with_entities(name, BOMB, "&e9;")), name)
    assert found.startswith("refused")
    assert any(word in found for word in REFUSED), found
    assert "haha" not in found


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize("declared", ['<!ENTITY e SYSTEM "{}">', '<!ENTITY % p SYSTEM "{}">%p;<!ENTITY e "x">'])
def test_an_external_entity_is_not_fetched(put: Put, name: str, declared: str) -> None:
    text = with_entities(name, declared.format(put("s3cret", "secret.txt").as_uri()), "&e;")
    found = outcome(put(text), name)
    assert any(word in found for word in REFUSED), found
    assert "s3cret" not in found


@pytest.mark.parametrize("name", XML)
def test_a_dtd_elsewhere_is_not_loaded(put: Put, name: str) -> None:
    dtd = put('<!ENTITY e "s3cret">', "x.dtd")
    found = outcome(put(with_entities(name, "", "").replace("x [", f'x SYSTEM "{dtd.as_uri()}" [', 1)), name)
    assert "s3cret" not in found


# --- archives ---


def folder_formats() -> Iterator[str]:
    for form in default_registry().formats():
        if form.can_read and form.takes_folders:
            yield form.name


def archive(path: Path, name: str, content: bytes = b"Naloxone here.", *, link: bool = False) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o120777 if link else 0o100644) << 16
        out.writestr(info, content)
        out.writestr("b.txt", "More.")
    return path


def refused(path: Path, why: str) -> None:
    """By whoever opens it: the recognition, each format of folders, and each knowledge base."""
    with pytest.raises(UserError, match=why):
        default_registry().recognise(path)
    for name in folder_formats():
        with pytest.raises(UserError, match=why):
            list(default_registry().by_name(name).open(path))
    with pytest.raises(UserError):
        list(default_registry().open_kb(path))


@pytest.mark.parametrize("name", ["../a.txt", "/etc/a.txt", "C:/a.txt", "a/../../a.txt", "a\\..\\b.txt"])
def test_names_that_lead_out_of_an_archive(tmp_path: Path, name: str) -> None:
    refused(archive(tmp_path / "a.zip", name), "leads out of the archive")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.zip"]


def test_a_link_in_an_archive(tmp_path: Path) -> None:
    refused(archive(tmp_path / "a.zip", "a.txt", b"/etc/passwd", link=True), "a link")


def test_a_zip_bomb(tmp_path: Path) -> None:
    refused(archive(tmp_path / "a.zip", "a.txt", b"a\n" * (source.FREE_BYTES // 2 + 2_000_000)), "swell|far more")


def test_a_gzip_bomb(put: Put) -> None:
    """For every reader of one file, by what all of them read through."""
    bomb = put(gzip.compress(b"1|t|a\n" + b"\n" * (source.FREE_BYTES + 3_000_000)), "a.txt.gz")
    with pytest.raises(UserError, match="unpacks to far more than its own size"):
        list(default_registry().by_name("pubtator").open(bomb))
    fine = put(gzip.compress(b"1|t|Naloxone.\n1|a|\n" * 5), "b.txt.gz")
    assert len(list(default_registry().by_name("pubtator").open(fine))) == 5


def test_an_element_with_very_many_attributes_is_refused_where_each_is_looked_up(tmp_path: Path) -> None:
    many = " ".join(f'a{n}="1"' for n in range(2000))
    path = tmp_path / "x.xml"
    path.write_text(BIOC.replace("<collection>", f"<collection {many}>"), encoding="utf-8")
    assert "line 1: an element has 2,000 attributes" in outcome(path, "bioc-xml")
