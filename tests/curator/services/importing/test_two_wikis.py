"""Two wikis in one project: their pages, links and documents stay apart, also those of one title."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.services.importing.importing import ImportReport
from curator.services.importing.kb_importing import KbWish
from tests.curator.services.fakes import World, finish

Pages = dict[str, str]
"""Title -> wikitext; `#REDIRECT TITLE` is a redirect."""
ADD = KbWish(add=True)


def dump(path: Path, name: str, pages: Pages) -> Path:
    path.parent.mkdir(exist_ok=True)
    texts = (
        f'<page><title>{title}</title><ns>0</ns><redirect title="{text.removeprefix("#REDIRECT ")}"/></page>'
        if text.startswith("#REDIRECT ")
        else f"<page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>"
        for title, text in pages.items()
    )
    path.write_text(f"<mediawiki><siteinfo><dbname>{name}</dbname></siteinfo>{''.join(texts)}</mediawiki>")
    return path


ALPHA = {
    "Main Page": "About [[Jack]] of [[York]], born in [[1912]].",
    "Jack": "A boy.",
    "York": "A town.",
    "1912": "A year.",
    "Stub": "",
}
BETA = {
    "Main Page": "About [[Jack]] of [[York]], born in [[1912]].",
    "Jack": "#REDIRECT Jack Brown",
    "Jack Brown": "A man on the [[main Page]].",
    "Stub": "",
}


def both(world: World, tmp_path: Path) -> tuple[Path, Path, ImportReport]:
    """Both as one knowledge base; the files have one name. Returns them and the report of the second import."""
    alpha, beta = dump(tmp_path / "a" / "pages.xml", "alpha", ALPHA), dump(tmp_path / "b" / "pages.xml", "beta", BETA)
    finish(world.project.importing.knowledge_base(alpha, KbWish(name="alpha")))
    report: ImportReport = finish(world.project.importing.knowledge_base(beta, KbWish(add=True, name="beta")))
    return alpha, beta, report


def links(world: World) -> dict[tuple[str, str, str], str]:
    """(world, document, words) -> the entity that the mention is linked to, "" for NIL, "undecided"."""
    found = {}
    with world.store.read() as unit:
        ids = list(unit.documents.ids())
    for document_id in ids:
        opened = world.project.queue.open(document_id)
        for view in opened.mentions:
            verdict = view.decision.verdict if view.decision else None
            words = "undecided" if verdict is None else " ".join(verdict.entity_ids)
            found[view.mention.type, opened.document.external_id, view.mention.text] = words
    return found


def test_a_page_with_the_title_of_another_world_is_kept(world: World, tmp_path: Path) -> None:
    *_, report = both(world, tmp_path)
    assert (report.counts["entities"], report.counts.get("left out")) == (8, None)
    assert [one.problem.text for one in report.problems] == [
        "2 pages of beta have the titles of entities of other types, so their ids begin with the name of the wiki "
        "(for example beta:Main Page, beta:Stub)"
    ]
    page = world.project.knowledge.entity("beta:Main Page")
    assert page is not None
    assert (page.name, page.types, page.alt_ids) == ("Main Page", ("beta",), ("Main Page",))


def test_every_link_leads_to_a_page_of_its_own_world(world: World, tmp_path: Path) -> None:
    alpha, beta, _ = both(world, tmp_path)
    finish(world.project.importing.documents([alpha], gold=True))
    report: ImportReport = finish(world.project.importing.documents([beta], gold=True))
    assert links(world) == {
        ("alpha", "Main Page", "Jack"): "Jack",
        ("alpha", "Main Page", "York"): "York",
        ("alpha", "Main Page", "1912"): "1912",
        ("beta", "Main Page", "Jack"): "Jack Brown",
        ("beta", "Main Page", "York"): "",
        ("beta", "Main Page", "1912"): "",
        ("beta", "Jack Brown", "main Page"): "beta:Main Page",
    }
    assert any(
        "2 links lead to titles that their wiki does not have, but another one in the knowledge base: NIL (first: "
        "document Main Page, York)" in one.problem.text
        for one in report.problems
    )


def test_a_redirect_in_this_spelling_is_meant_before_a_page_in_another(world: World, tmp_path: Path) -> None:
    pages = {"IT": "A film.", "It": "#REDIRECT Clown", "Clown": "Not [[IT]] but [[It]]."}
    path = dump(tmp_path / "a" / "pages.xml", "alpha", pages)
    finish(world.project.importing.knowledge_base(path))
    finish(world.project.importing.documents([path], gold=True))
    assert links(world) == {("alpha", "Clown", "IT"): "IT", ("alpha", "Clown", "It"): "Clown"}


def test_ids_stay_when_a_world_is_updated_or_removed(world: World, tmp_path: Path) -> None:
    alpha, beta, _ = both(world, tmp_path)
    importing, knowledge = world.project.importing, world.project.knowledge
    dump(alpha, "alpha", {**ALPHA, "Jack Brown": "Another one."})
    finish(importing.knowledge_base(alpha, KbWish(add=True, name="alpha")))
    old, new = knowledge.entity("Jack Brown"), knowledge.entity("alpha:Jack Brown")
    assert old is not None
    assert new is not None
    assert (old.types, new.types) == (("beta",), ("alpha",)), "what was there first keeps its id"
    finish(importing.drop_source("alpha"))
    finish(importing.knowledge_base(beta, KbWish(add=True, name="beta")))
    page = knowledge.entity("beta:Main Page")
    assert page is not None
    assert page.id == "beta:Main Page"


def test_a_second_dump_of_the_same_world_adds_no_copies(world: World, tmp_path: Path) -> None:
    alpha, _, _ = both(world, tmp_path)
    report = finish(world.project.importing.knowledge_base(alpha, KbWish(add=True, name="again")))
    assert (report.counts["entities"], report.counts["left out"]) == (8, 5)


def test_a_world_does_not_replace_another_one_of_the_same_file_name(world: World, tmp_path: Path) -> None:
    alpha, beta = dump(tmp_path / "a" / "pages.xml", "alpha", ALPHA), dump(tmp_path / "b" / "pages.xml", "beta", BETA)
    importing = world.project.importing
    report = finish(importing.knowledge_base(alpha, KbWish(add=True)))
    assert report.problems == (), "titles of digits are no numbers of a vocabulary"
    with pytest.raises(UserError, match=r"source pages\.xml of another wiki \(alpha\), which beta would replace"):
        finish(importing.knowledge_base(beta, KbWish(add=True)))
    assert world.project.knowledge.entity("York") is not None
    finish(importing.knowledge_base(alpha, KbWish(add=True)))
    finish(importing.knowledge_base(beta, KbWish(add=True, name="beta.xml")))
    assert world.project.knowledge.entity("beta:Main Page") is not None
