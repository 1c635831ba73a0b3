"""The text of common templates, the count of the others, and the targets of links in all their spellings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.io.wiki.mediawiki import MediaWikiFormat
from curator.io.wiki.wikitext import Plain, plain_page
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]


def links(found: Plain) -> list[tuple[str, str]]:
    return [(found.text[one.start : one.end], one.target) for one in found.links]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("a top speed of {{convert|21|kn|mph}}.", "a top speed of 21 kn."),
        ("{{cvt|269.1|m|ftin}} long", "269.1 m long"),
        ("{{Convert|10|to|20|km2|sqmi|abbr=on}}", "10 to 20 km²"),
        ("{{convert|3|-|4.5|C}}", "3–4.5°C"),
        ("{{convert|5|ft|10|in|cm|0}} tall", "5 ft 10 in tall"),
        ("{{convert|20|x|30|m}}", "20 × 30 m"),
        ("{{convert|1+1/2|in}}", "1 1/2 in"),
        ("{{convert|2,500|LT}}", "2,500 long tons"),
        ("{{height|ft=5|in=10}}", "5 ft 10 in"),
        ("{{val|5.4|u=kg|e=3}}", "5.4×10^3 kg"),
        ("{{frac|1|2}} {{frac|3|1|2}} {{sfrac|4}}", "1/2 3 1/2 1/4"),
        ("E = mc{{sup|2}}, H{{sub|2}}O, {{chem|CO|2}}", "E = mc2, H2O, CO2"),
        ("{{small|a}} {{nowrap|b ''c''}} {{nobr|d}} {{big|e}}", "a b c d e"),
        ("{{lang|fr|chat}} {{lang-de|Hund}} {{transl|ja|neko}} {{langx|es|perro}}", "chat Hund neko perro"),
        ("{{abbr|UK|United Kingdom}} {{tooltip|a|b}} {{H:title|b|a}}", "UK a a"),
        ("a{{nbsp}}b{{ndash}}c{{snd}}d{{dash}}e{{mdash}}f", "a b–c – d – e—f"),
        ("the boys{{'}} {{'s}} {{\"|yes}}", "the boys' 's \"yes\""),
        (
            "{{birth date|1874|3|30}} {{Start date|1912|4|10|df=y}} {{death date and age|1952|12|8|1874|3|30}}",
            "March 30, 1874 10 April 1912 December 8, 1952",
        ),
        ("{{as of|2010|4}}, {{as of|2010|lc=y}}, {{As of|2010|alt=by 2010}}", "As of April 2010, as of 2010, by 2010"),
        ("{{circa|1850}} {{circa}} {{US$|5}} {{ordinal|22}} {{ordinal|11}}", "c. 1850 c. $5 22nd 11th"),
        ("{{color|red|a}} {{font color|red|white|b}} {{mvar|x}} {{math|''y''}}", "a b x y"),
        (
            "{{hlist|a|b}} {{gaps|1|234}} {{sort|Ali, B|Ali B}} {{sortname|Ada|Lovelace}}",
            "a, b 1234 Ali B Ada Lovelace",
        ),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("a {{Template:Small|b}} {{ small <!-- c --> | d }} {{sMALL|e}}", "a b d e"),
        ("{{PAGENAME}} {{lc:ABC}} {{#if:x|yes|no}} {{#if:|yes|no}} £{{formatnum:{{val|5}}}}", "Page abc yes no £5"),
        ("a{{=}}b {{!}}", "a=b |"),
        ("<math>x > y</math> <chem>H2O</chem>", "x > y H2O"),
        ("{{small|{{nowrap|{{convert|5|kg}}}}}}", "5 kg"),
        ("{{IPA|tʊ}} {{IPAc-en|t|ʊ}}", "tʊ tʊ"),
    ],
)
def test_a_common_template_shows_its_text(wikitext: str, text: str) -> None:
    found = plain_page(wikitext, title="Page")
    assert (found.text, dict(found.lost)) == (text, {})


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("a\n{{quote|To [[b|be]]|Ada|Letters}}\nc", "a\n\nTo be\n— Ada, Letters\n\nc"),
        ("{{cquote|text=x|author=y}}", "x\n— y"),
        ("{{Quote box|quote=x}}", "x"),
        ("{{rquote|right|x|y}}", "x\n— y"),
        ("{{Textbox|\nNO. 225.\n\nCLOTHING}}", "NO. 225.\n\nCLOTHING"),
        ("{{plainlist|\n* a\n* b\n}}", "a\n\nb"),
    ],
)
def test_a_quotation_is_a_block(wikitext: str, text: str) -> None:
    assert plain_page(wikitext).text == text


@pytest.mark.parametrize(
    ("wikitext", "text", "found"),
    [
        ("{{link|Bus stop|stop}} {{l|bus}} {{l|en|bus|buses}}", "stop bus buses", ["Bus stop", "Bus", "Bus"]),
        ("{{ill|Ada|de|Ada (x)|lt=she}} {{ill|Bob|fr}}", "she Bob", ["Ada", "Bob"]),
        ("{{RMS|Lusitania}} {{HMS|Hood|51}}", "RMS Lusitania HMS Hood (51)", ["RMS Lusitania", "HMS Hood (51)"]),
        ("{{SS|Paris|1916|2}} {{ship|MV|X}}", "SS Paris MV X", ["SS Paris (1916)", "MV X"]),
        ("{{w|Bus|a bus}} {{wp|Memphis}}", "a bus Memphis", []),
        ("{{flag|France}} {{flagicon|France}}", "France", ["France"]),
        ("{{small|[[bus]]es}}", "buses", ["Bus"]),
    ],
)
def test_a_template_links(wikitext: str, text: str, found: list[str]) -> None:
    plain = plain_page(wikitext)
    assert (plain.text, [one.target for one in plain.links], plain.lost) == (text, found, {})


@pytest.mark.parametrize(
    ("wikitext", "text", "lost"),
    [
        ("cost £{{Inflation|UK|30|1912}} today", "cost £ today", {"Inflation": 1}),
        ("a {{age_of|x}} b {{Age of|y}}", "a b", {"Age of": 2}),
        ("{{Infobox ship|name=x}}\na{{cite web|url=x}}{{sfn|A|p=1}} b.{{citation needed|date=May}}", "a b.", {}),
        ("a.\n{{S6nav}}\n{{Series Six Episodes}}\n", "a.", {}),
        ("a.{{Passengers}}\n[[Category:x]]", "a.", {}),
        ("{{Character\n|name = x\n|age = 5\n}}\na", "a", {}),
        ("{{Main|x}}\n{{see also|y}}\na {{which?}} b", "a b", {}),
        ("is {{cn}}, or <ref>x</ref>.", "is, or.", {}),
        ("<math>\\frac{1}{2}</math>", "", {"<math>": 1}),
        ("{{small|a {{what is it|b}}}}", "a", {"What is it": 1}),
        ("{{#switch:x|x=a}} {{#switch: y|y=b}} {{\\#if:x|c}}", "", {"#switch": 2, "\\#if": 1}),
        ("a {{wiktionary|word}}{{ntsh|5}}", "a", {}),
    ],
)
def test_what_is_not_known_is_counted_by_name(wikitext: str, text: str, lost: dict[str, int]) -> None:
    found = plain_page(wikitext)
    assert (found.text, dict(found.lost)) == (text, lost)


def test_the_report_names_the_most_frequent_first(put: Put) -> None:
    pages = "".join(
        f"<page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>"
        for title, text in [("A", "x {{rare|1}} {{often|1}} y"), ("B", "x {{often|2}} {{small|y}}")]
    )
    _, problems = read(MediaWikiFormat(), put(f"<mediawiki>{pages}</mediawiki>", "w.xml"))
    assert problems == [
        "note: The text of 3 templates or formulas is missing, since Curator does not know what they show: "
        "Often (2), Rare (1)"
    ]


@pytest.mark.parametrize(
    ("wikitext", "found"),
    [
        ("[[Caf%C3%A9|the café]]", ("the café", "Café")),
        ("[[Caf%C3%A9]]", ("Café", "Café")),
        ("[[Old%20Port]]", ("Old Port", "Old Port")),
        ("[[100% wool]]", ("100% wool", "100% wool")),
        ("[[a%FFb|x]]", ("x", "A%FFb")),
        ("[[Old <!-- the new one is elsewhere -->Port|x]]", ("x", "Old Port")),
        ("[[Caf&eacute;|x]]", ("x", "Café")),
        ("[[Caf&#233;|x]]", ("x", "Café")),
        ("[[R&amp;D|x]]", ("x", "R&D")),
        ("[[old_port]]", ("old port", "Old port")),
        ("[[ Old   Port _]]", ("Old Port", "Old Port")),
        ("[[:Old Port|x]]", ("x", "Old Port")),
        ("[[Old Port#Docks|x]]", ("x", "Old Port")),
        ("[[Old Port%23Docks|x]]", ("x", "Old Port")),
        ("[[éclair|x]]", ("x", "Éclair")),
        ("[[ßx|x]]", ("x", "ßx")),
        ("[[Old Port\u200e|x]]", ("x", "Old Port")),
        ("[[Old\u00a0Port|x]]", ("x", "Old Port")),
        ("[[bus]]es", ("buses", "Bus")),
        ("[[bus]]<!-- plural -->es", ("buses", "Bus")),
        ("[[bus|''coach'']]es", ("coaches", "Bus")),
        ("[[bus|'''a''' {{small|b}} <small>c</small>]]", ("a b c", "Bus")),
        ("[[''bus'']]", ("bus", "Bus")),
        ("[[{{PAGENAME}}|x]]", ("x", "Page")),
        ("[[bus{{!}}coach]]", ("coach", "Bus")),
        ("[[Star Wars: Part One|x]]", ("x", "Star Wars: Part One")),
    ],
)
def test_the_target_of_a_link(wikitext: str, found: tuple[str, str]) -> None:
    assert links(plain_page(wikitext, title="Page")) == [found]


@pytest.mark.parametrize(
    "wikitext",
    [
        "[[User:Ada|x]]",
        "[[user_talk:Ada|x]]",
        "[[TALK:Bus|x]]",
        "[[Benutzer Diskussion:Ada|x]]",
        "[[Special:Search|x]]",
        "[[:Category:Buses|x]]",
        "[[:fr:Autobus|x]]",
        "[[#Docks|x]]",
        "[[w:Bus|x]]",
    ],
)
def test_a_link_to_no_article_is_only_text(wikitext: str) -> None:
    found = plain_page(wikitext, namespaces={"benutzer diskussion"})
    assert (found.text, found.links) == ("x", ())


@pytest.mark.parametrize("wikitext", ["[[File:A.png|thumb|a [[b]]]]", "[[category:A]]", "[[fr:A]]", "[[image:a.png]]"])
def test_a_file_or_category_is_no_text(wikitext: str) -> None:
    assert plain_page(wikitext).text == ""


def test_pages_without_wikitext_are_counted(put: Put) -> None:
    stub = "<page><title>A</title><ns>0</ns><revision><text bytes='80' /></revision></page>"
    other = "<page><title>B</title><ns>0</ns><revision><model>json</model><text>{}</text></revision></page>"
    _, problems = read(MediaWikiFormat(), put(f"<mediawiki>{stub}{other}</mediawiki>", "w.xml"))
    assert problems == ["note: 2 pages have no wikitext in the dump: their documents contain only the title"]
