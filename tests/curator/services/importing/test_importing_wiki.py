"""One dump as knowledge base and as documents: every link finds its page, by redirects too."""

from __future__ import annotations

from pathlib import Path

from curator.domain.decisions import Verdict
from tests.curator.services.fakes import World, finish

DUMP = """<mediawiki><siteinfo><sitename>Stars</sitename></siteinfo>
<page><title>Jedi Knight</title><ns>0</ns><redirect title="Jedi"/></page>
<page><title>Jedi</title><ns>0</ns>
  <revision><text>A [[jedi Knight|knight]] of [[Star Wars: Part I]].</text></revision></page>
<page><title>Star Wars: Part I</title><ns>0</ns><revision><text>About [[Jedi]]s, not [[Sith]].</text></revision></page>
</mediawiki>
"""


def test_links_become_gold(world: World, tmp_path: Path) -> None:
    path = tmp_path / "pages.xml"
    path.write_text(DUMP)
    report = finish(world.project.importing.knowledge_base(path))
    assert report.counts["entities"] == 2
    finish(world.project.importing.documents([path], gold=True))
    found = [
        (view.mention.text, view.mention.type, view.decision.verdict if view.decision else None)
        for document_id in (1, 2)
        for view in world.project.queue.open(document_id).mentions
    ]
    assert found == [
        ("knight", "Stars", Verdict.link("Jedi")),
        ("Star Wars: Part I", "Stars", Verdict.link("Star Wars: Part I")),
        ("Jedis", "Stars", Verdict.link("Jedi")),
        ("Sith", "Stars", Verdict.nil()),
    ]
