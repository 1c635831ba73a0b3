"""The text that common templates of wikis show: units, quotations, links, dates, dashes, small text.

A dump holds the calls of templates, not what they show. What Wikipedia's templates show is known here by their names,
which other wikis use too. Boxes, citations and notices are no running text. The text of all others is lost: they are
counted by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Nodes:
    """Parsed wikitext, to be shown like the page's own."""

    nodes: Sequence[Any]


@dataclass(frozen=True, slots=True)
class ToPage:
    """A link to a page of the wiki."""

    target: str
    shown: str | Nodes


Piece = str | Nodes | ToPage
"""What a template shows: text, wikitext of its arguments, or a link. A line feed ends a block."""

_SENTENCE_ENDS = ".!?…)]\"'”’"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Call:
    """A template with its arguments by name; the numbers of positional ones count from 1. `title` is its name as
    written, `name` the same in lower case, `page` the page's title."""

    title: str
    name: str
    args: dict[str, Any]
    page: str

    def nodes(self, *names: str | int) -> Nodes | None:
        """The first of these arguments that is not blank."""
        for name in names:
            value = self.args.get(str(name))
            if value is not None and str(value).strip():
                return Nodes(value.nodes)
        return None

    def text(self, *names: str | int) -> str:
        """The same as plain text."""
        found = self.nodes(*names)
        return _plain(found.nodes) if found is not None else ""

    @property
    def positional(self) -> list[Nodes]:
        """The positional arguments that are not blank, in their order."""
        numbers = sorted(int(name) for name in self.args if name.isdecimal() and name.isascii())
        found = [self.nodes(number) for number in numbers]
        return [one for one in found if one is not None]

    @property
    def texts(self) -> list[str]:
        return [_plain(one.nodes) for one in self.positional]


def called(template: Any, page: str, namespaces: Collection[str]) -> Call:
    """The call of a parsed template, without its namespace; `namespaces` are in lower case."""
    name = " ".join(_COMMENT.sub("", str(template.name)).replace("_", " ").split())
    for _ in range(2):
        prefix, colon, rest = name.partition(":")
        if colon and prefix.strip().lower() in {"template", "subst", "safesubst", "msg", *namespaces}:
            name = rest.strip()
    args = {str(one.name).strip(): one.value for one in template.params}
    return Call(name[:1].upper() + name[1:], name.lower(), args, page)


def shown(call: Call) -> list[Piece] | None:
    """What a template shows, nothing if it is no running text; None if that is not known."""
    name = call.name
    if name in _SIGNS:
        return [_SIGNS[name]]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](call)
    if name in ("pagename", "fullpagename", "basepagename", "subjectpagename", "rootpagename", "articlepagename"):
        return [call.page]
    if found := _function(call):
        return found
    if name.startswith(("lang-", "ipa-", "ipac-")):
        return _joined("")(call) if name.startswith("ipac-") else _first(call)
    if _SHIP.fullmatch(name):
        return _ship(name.upper(), call.texts)
    if _NO_TEXT.fullmatch(name) or name.startswith(("defaultsort:", "displaytitle:", "#invoke:navbox")):
        return []
    return None


def is_box(call: Call, before: str, after: str) -> bool:
    """Whether an unknown template is an infobox, a navigation box or a notice: it is alone in its line and has no
    arguments or only named ones, or it has none and ends a line after a sentence."""
    if call.positional or after[:1] not in ("", "\n"):
        return False
    return before[-1:] in ("", "\n") or (not call.args and (before[-1:].isspace() or before[-1:] in _SENTENCE_ENDS))


# --- arguments ---


def _plain(nodes: Sequence[Any]) -> str:
    """The text of an argument, with the texts of its links and of the templates that are known."""
    return " ".join("".join(map(_node_text, nodes)).split())


def _node_text(node: Any) -> str:
    kind = type(node).__name__
    if kind == "Text":
        return str(node.value)
    if kind == "Wikilink":
        return _plain((node.text if node.text is not None else node.title).nodes)
    if kind == "Tag":
        if str(node.tag).strip().lower() == "ref":
            return ""
        return " " if node.contents is None else "".join(map(_node_text, node.contents.nodes))
    if kind == "HTMLEntity":
        try:
            return str(node.normalize())
        except (ValueError, OverflowError):
            return ""
    if kind == "ExternalLink":
        return "" if node.title is None else _plain(node.title.nodes)
    if kind == "Template":
        return "".join(map(_piece_text, shown(called(node, "", ())) or ()))
    return ""


def _piece_text(piece: Piece) -> str:
    if isinstance(piece, ToPage):
        return _piece_text(piece.shown)
    return _plain(piece.nodes) if isinstance(piece, Nodes) else piece


def _first(call: Call) -> list[Piece]:
    found = call.nodes(1, "text", "content")
    return [found] if found is not None else []


def _second(call: Call) -> list[Piece]:
    found = call.nodes(2, 1, "text")
    return [found] if found is not None else []


def _last(call: Call) -> list[Piece]:
    found: list[Piece] = [*call.positional[-1:]]
    return found or _first(call)


def _apart(found: Sequence[Piece], between: str) -> list[Piece]:
    pieces: list[Piece] = []
    for one in found:
        pieces += [between, one] if pieces and between else [one]
    return pieces


def _joined(between: str) -> Callable[[Call], list[Piece]]:
    return lambda call: _apart(call.positional, between)


def _lines(call: Call) -> list[Piece]:
    return ["\n", *_joined("\n")(call), "\n"]


# --- units and numbers ---

_UNITS = {
    "C": "°C",
    "F": "°F",
    "sqmi": "sq mi",
    "sqkm": "km²",
    "sqft": "sq ft",
    "sqin": "sq in",
    "sqyd": "sq yd",
    "cuft": "cu ft",
    "cuin": "cu in",
    "cuyd": "cu yd",
    "impgal": "imp gal",
    "USgal": "US gal",
    "LT": "long tons",
    "ST": "short tons",
    "ftin": "ft",
}
_BETWEEN = {
    "to": " to ",
    "-": "–",
    "–": "–",
    "to(-)": "–",
    "to about": " to about ",
    "and": " and ",
    "and(-)": " and ",
    "or": " or ",
    "by": " by ",
    "x": " × ",
    "×": " × ",
    "xx": " × ",
    "*": " × ",
    "+": " + ",
    "+/-": " ± ",
    "±": " ± ",
    "/": "/",
}
_SMALLER = frozenset(("in", "ft", "yd", "oz", "lb", "mi"))
"""Units that may follow another: 5 ft 10 in."""
_NUMBER = re.compile(r"[+\-−]?[\d.,/⁄+\s]*\d[\d.,/⁄+\s]*(?:e[+-]?\d+)?")


def _unit(code: str) -> str:
    found = _UNITS.get(code, code)
    return re.sub(r"(?<=[a-z])([23])\b", lambda one: {"2": "²", "3": "³"}[one[1]], found)


def _convert(call: Call) -> list[Piece]:
    """The quantity as the page states it, without its conversion: `5|ft|10|in|cm` is 5 ft 10 in."""
    words = call.texts
    said, at = "", 0
    while at < len(words) and _NUMBER.fullmatch(words[at]):
        said += words[at].replace("+", " ") if "/" in words[at] else words[at]
        between = words[at + 1] if at + 1 < len(words) else ""
        if between in _BETWEEN and at + 2 < len(words) and _NUMBER.fullmatch(words[at + 2]):
            said += _BETWEEN[between]
            at += 2
            continue
        unit = _unit(between)
        said += f"{'' if unit.startswith('°') else ' '}{unit}" if unit else ""
        at += 2
        if at + 1 >= len(words) or not _NUMBER.fullmatch(words[at]) or words[at + 1] not in _SMALLER:
            break
        said += " "
    return [said] if said else list(call.positional[:1])


def _value(call: Call) -> list[Piece]:
    number = call.text(1)
    power, unit = call.text("e"), call.text("u", "ul", "up")
    error = call.text(2)
    said = number + (f" ± {error}" if error and _NUMBER.fullmatch(error) else "")
    return [said + (f"×10^{power}" if power else "") + (f" {_unit(unit)}" if unit else "")]


def _quantity(call: Call) -> list[Piece]:
    number, *unit = call.texts[:2] or [""]
    return [" ".join((number, *map(_unit, unit)))]


def _height(call: Call) -> list[Piece]:
    said = " ".join(f"{call.text(unit)} {unit}" for unit in ("m", "cm", "ft", "in", "hands") if call.text(unit))
    return [said] if said else _joined(" ")(call)


def _fraction(call: Call) -> list[Piece]:
    parts = call.texts
    if len(parts) == 1:
        parts = ["1", *parts]
    return [f"{parts[0]} {parts[1]}/{parts[2]}" if len(parts) > 2 else "/".join(parts)]


def _currency(sign: str) -> Callable[[Call], list[Piece]]:
    return lambda call: [sign, *call.positional[:1]]


def _before(words: str) -> Callable[[Call], list[Piece]]:
    def pieces(call: Call) -> list[Piece]:
        return [f"{words} ", *_joined("–")(call)] if call.positional else [words]

    return pieces


def _ordinal(call: Call) -> list[Piece]:
    number = call.text(1)
    ending = "th" if number[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")
    return [f"{number}{ending}"] if number else []


# --- dates ---


def _date(call: Call) -> list[Piece]:
    """Year, month and day as numbers, or the date as it is written."""
    words = call.texts
    if not words:
        return []
    if not words[0].isdecimal() or len(words[0]) > 4:
        return list(call.positional[:1])
    return [_written_date(words[:3], day_first=bool(call.text("df")))]


def _written_date(words: Sequence[str], *, day_first: bool) -> str:
    year, *rest = words
    months = [_MONTHS[int(one) - 1] for one in rest[:1] if one.isdecimal() and 1 <= int(one) <= 12]
    days = [str(int(one)) for one in rest[1:2] if one.isdecimal()] if months else []
    if not days:
        return " ".join([*months, year])
    return f"{days[0]} {months[0]} {year}" if day_first else f"{months[0]} {days[0]}, {year}"


def _as_of(call: Call) -> list[Piece]:
    if alternative := call.nodes("alt"):
        return [alternative]
    word = "Since" if call.text("since") else "As of"
    date = _written_date(call.texts[:3], day_first=call.text("df") != "US") if call.texts else ""
    return [f"{word.lower() if call.text('lc') else word} {date}".strip()]


# --- quotations ---


def _quote(call: Call) -> list[Piece]:
    """A block with its author and source."""
    words = call.nodes("text", "quote", "content", 1)
    if words is None:
        return []
    by = [one for one in (_author(call), call.nodes("source", "title", "cite", 3)) if one is not None]
    return ["\n", words, *(["\n— "] if by else []), *_apart(by, ", "), "\n"]


def _author(call: Call) -> Nodes | None:
    return call.nodes("author", "by", "sign", "speaker", "person", "character", 2)


def _pull_quote(call: Call) -> list[Piece]:
    """With the side of the page first: `right|text|author|source`."""
    if call.text(1).lower() in ("left", "right", "center", "none") and call.nodes(2) is not None:
        moved = {str(number - 1): call.args[str(number)] for number in (2, 3, 4) if str(number) in call.args}
        named = {key: one for key, one in call.args.items() if not key.isdecimal()}
        return _quote(replace(call, args=named | moved))
    return _quote(call)


def _block(call: Call) -> list[Piece]:
    return ["\n", *(_first(call) or [one for one in (call.nodes("quote", "title"),) if one is not None]), "\n"]


def _in_quotes(call: Call) -> list[Piece]:
    found = _first(call)
    return ['"', *found, '"'] if found else ['"']


# --- links ---

_SHIP = re.compile(
    r"rms|ss|hms|hmhs|hmt|hmcs|hmas|uss|usns|usat|mv|ms|mt|mts|ps|ts|tss|rv|rrs|sms|sv|st|hnlms|cs|gts|ns"
)


def _ship(prefix: str, words: Sequence[str]) -> list[Piece]:
    """`RMS|Lusitania`, `HMS|Hood|51`: the ship with its number, unless a third argument says how to show it."""
    if not words:
        return []
    name = f"{prefix} {words[0]}".strip()
    number = f" ({words[1]})" if len(words) > 1 and len(words[1]) > 1 else ""  # one digit says how to show it
    return [ToPage(name + number, name if len(words) > 2 else name + number)]


def _page(call: Call) -> list[Piece]:
    """A link to a page and its text."""
    words = call.texts
    if not words:
        return []
    return [ToPage(words[0], call.nodes("lt", "text", 2) or words[0])]


def _foreign(call: Call) -> list[Piece]:
    """A link to a page that may exist only in another language: `ill|Page|de|Seite|lt=text`."""
    name = call.text(1)
    return [ToPage(name, call.nodes("lt") or name)] if name else []


def _word(call: Call) -> list[Piece]:
    """Wiktionary's `l|en|word|text`; in other wikis `l|page|text`."""
    words = call.texts
    if len(words) > 1 and re.fullmatch(r"[a-z]{2,3}", words[0]):
        return [ToPage(words[1], call.nodes(3) or words[1])]
    return _page(call)


def _nihongo(call: Call) -> list[Piece]:
    english = call.nodes(1) or ""
    inside = _apart([one for one in (call.nodes(2), call.nodes(3)) if one is not None], ", ")
    return [english, " (", *inside, ")"] if english and inside else [english, *inside]


# --- parser functions ---


def _function(call: Call) -> list[Piece]:
    """`#if:`, `lc:` and the like: their first argument is in the name."""
    name, colon, first = call.title.partition(":")
    if not colon:
        return []
    name, first = name.strip().lower(), first.strip()
    if name == "#if":
        found = call.nodes(1 if first else 2)
        return [found] if found is not None else [""]
    if name == "#ifeq":
        found = call.nodes(2 if first == call.text(1) else 3)
        return [found] if found is not None else [""]
    change = _CASES.get(name)
    if change is None:
        return []
    if "{{" in first or "[[" in first:
        import mwparserfromhell

        return [Nodes(mwparserfromhell.parse(first).nodes)]
    return [change(first)]


_CASES: dict[str, Callable[[str], str]] = {
    "lc": str.lower,
    "uc": str.upper,
    "lcfirst": lambda text: text[:1].lower() + text[1:],
    "ucfirst": lambda text: text[:1].upper() + text[1:],
    "formatnum": str,
}


def _named(names: str, function: Callable[[Call], list[Piece]]) -> dict[str, Callable[[Call], list[Piece]]]:
    return dict.fromkeys((one.strip() for one in names.split(",")), function)


_SIGNS = {
    name: sign
    for sign, names in {
        "|": "!  pipe",
        "||": "!!",
        "=": "=",
        "{": "(",
        "}": ")",
        "'": "'",
        "'s": "'s",
        "'\"": "'\"",
        "\"'": "\"'",
        "`": "`",
        " ": "nbsp  space  spaces  thinsp  hsp  sp",
        "": "zwsp  shy  wbr",
        "–": "ndash  en dash  endash  –",
        " – ": "snd  snds  spnd  sndash  spaced ndash  spaced en dash  dash",
        "—": "mdash  em dash  emdash  —  --",
        " • ": "bull  bullet  •",
        " · ": "dot  ·  middot",
        "−": "minus",
        "×": "times",
        "°": "deg  degree",
        "′": "prime",
        "π": "pi",
        "#": "hash  number sign",
        "CO2": "co2",
        "H2O": "h2o",
        "O2": "o2",
        "N/A": "n/a",
        "TBA": "tba",
        "TBD": "tbd",
        "[sic]": "sic",
        "Yes": "ya",
        "\n": "br  break  crlf  -  clear  clr  pb  paragraph break",
    }.items()
    for name in names.split("  ")
}
_FUNCTIONS: dict[str, Callable[[Call], list[Piece]]] = {
    **_named(
        "small, smaller, big, larger, resize, nowrap, nobr, nbr, nobreak, nowrap inline, abbr, tooltip, sc, smallcaps, "
        "strong, strongbad, em, i, it, italic, italics, b, bold, bi, u, underline, kbd, code, samp, var, mono, mvar, "
        "math, sup, sub, superscript, subscript, unicode, ipa, noitalic, nobold, normal, not a typo, as written, typo, "
        "visible anchor, vanchor, visanc, plainlink, raise, lower, nounderlines, bracket, allcaps, caps, lcfirst, "
        "birth-date, death-date, birth-date and age, death-date and age, nts, number, formatnum, avoid wrap, linktext, "
        "unlinked, coloured link, strikethrough, s, strike, del, ins, popup, hover, glossary, term, defn, mention, "
        "title link, ab, center text, bigger, keypress, key, button, keyboard, by, year, xt, tq, textsize, unsigned",
        _first,
    ),
    **_named(
        "lang, langx, transl, translit, transliteration, script, color, colour, font color, fontcolor, font colour, "
        "colored text, coloured text, text color, textcolor, color text, color2, h:title, hilite, fgcolor, fc, "
        "background color, bgcolor, style, font",
        _last,
    ),
    **_named("convert, cvt, converted, convert/sandbox, auto convert", _convert),
    **_named("val, nval", _value),
    **_named("unit, units, quantity, measure, si, physconst", _quantity),
    **_named("height, ft in, ftin", _height),
    **_named("frac, sfrac, fraction, frac2, tfrac, xfrac, sfrac2", _fraction),
    **_named("chem, chem2, ce, gaps, hide in print, su, sub sup, nuclide, chemf", _joined("")),
    **_named("respell", _joined("-")),
    **_named("hlist, flatlist, cslist, comma separated entries, csv, enum, list", _joined(", ")),
    **_named(
        "charquote, dialogue, dialog, plainlist, ubl, unbulleted list, ublist, bulleted list, "
        "blist, ordered list, numbered list",
        _lines,
    ),
    **_named(
        "birth date, death date, birth date and age, death date and age, bda, dda, birth-date2, start date, end date, "
        "start date and age, end date and age, birth year and age, death year and age, date, dts, film date, "
        "release date, dob, start-date, end-date, birthdate, birthdate and age, bd, dod",
        _date,
    ),
    **_named("as of, asof", _as_of),
    **_named("circa, c., ca, ca., c", _before("c.")),
    **_named("floruit, fl., fl", _before("fl.")),
    **_named("reign, r.", _before("r.")),
    **_named("born", _before("born")),
    **_named("usd, us$, us dollars, $", _currency("$")),
    **_named("gbp, £, pound sterling, pounds", _currency("£")),
    **_named("eur, €, euro, euros", _currency("€")),
    **_named("jpy, ¥, jpy symbol, yen, cny", _currency("¥")),
    **_named("ordinal, ord", _ordinal),
    **_named(
        "quote, quote2, cquote, cquote2, quotation, blockquote, block quote, bquote, bq, quote box, quotebox, "
        "quote box2, centered pull quote, pquote, qquote, pull quote2, quoted, quote-box, poem, poem quote, "
        "poemquote, excerpt, letter, verse",
        _quote,
    ),
    **_named("rquote, pull quote, pullquote", _pull_quote),
    **_named("textbox, text box, block indent, block, indent, center, centre, centered, box, blockindent", _block),
    **_named('", qq, q, quote inline, inline quote', _in_quotes),
    **_named("link, internal link, flag, flagu, flagcountry, flag2, pagelink, nlink", _page),
    **_named("sort", _second),
    **_named("sortname", _joined(" ")),
    **_named("l, ll", _word),
    **_named("ill, interlanguage link, link-interwiki, ill-wd, interlanguage link multi, iw2", _foreign),
    **_named("w, wp, wikipedia link, wpl, wplink, wikia, fandom, wt, wikt, wiktionary link", _second),  # another wiki
    **_named("ship", lambda call: _ship(call.text(1), call.texts[1:])),
    **_named("nihongo, nihongo2, nihongo3, nihongo4, nihongo krt, japanese", _nihongo),
    **_named("yes, okay, yes2, ok", lambda call: _first(call) or ["Yes"]),
    **_named("no, no2", lambda call: _first(call) or ["No"]),
    **_named("?, unknown, dunno", lambda call: _first(call) or ["?"]),
}

_NO_TEXT = re.compile(
    r".*box(?:es)?|.*infobox.*|.*info ?panel|.*navbox.*|.*nav ?\d*|.*navigation.*|.*navbar|.*sidebar.*|taxobox.*"
    r"|.*header|.*footer|.*succession.*|s-\w+|portal.*|sister.*|commons.*|wiktionary.*|wiki(?:pedia|quote|source|data|species|news"
    r"|media|voyage|books|versity).*|from ?wikipedia|see-wp|authority control|subject bar|.*episode list.*"
    r"|cite .*|cite|citation.*|cit|r|rp|ref|refn|refs|ref label|note|note label|efn.*|sfn.*|harv.*|reflist.*"
    r"|references|refbegin.*|refend|notelist.*|cn|fact|source needed|full citation needed|isbn|doi|issn|oclc|pmid"
    r"|webarchive|dead link.*|cbignore|subscription.*|page needed|better source.*|failed verification"
    r"|journal reference.*|main|main article|see|see also|seealso|further.*|about|for|for2|distinguish.*"
    r"|not to be confused.*|hatnote"
    r"|redirect.*|other ?uses.*|other .*|disambig.*|dab|details|confuse.*|similar.*|youmay|selfref|quality"
    r"|.*stub|cleanup.*|clean ?up.*|merge.*|delet.*|speedy.*|update.*|unreferenced.*|refimprove.*|more .*citations.*"
    r"|n?pov.*|expand.*|wikify|orphan.*|copy ?edit.*|article issues|multiple issues|notability.*|original research.*"
    r"|or\?|in ?use|under construction|construction|wip|draft|protected.*|pp-.*|featured.*|good article"
    r"|short description|use \w+ (?:dates|english)|engvar.*|italic ?title.*|lowercase.*|title|correct title"
    r"|dynamic list|incomplete.*|incpage|spoiler.*|end ?spoiler.*|(?:whom?|when|where|which|what|why)\??"
    r"|clarify.*|dubious.*|according to whom|by whom|vague.*|verify.*|verification needed|weasel.*|peacock.*|.*wanted"
    r"|help|.*licen[cs]ed?|fairuse.*|noname|era|eras|icon.*|.*icons?|realworld|real world|canon|conjecture"
    r"|youtube.*|twitter|toc.*|no ?toc|col-.*|col|column.*|col ?begin|col ?break|col ?end|div col.*"
    r"|end ?div.*|multicol.*|anchor.*"
    r"|shortcut.*|coord.*|location map.*|image.*|file.*|gallery.*|multiple image|video.*|audio.*|listen"
    r"|external media.*|css image crop|family ?tree.*|tree ?chart.*|chart.*|graph.*|tlx?|template link|documentation"
    r"|flagicon.*|top|bottom|tab.*|collapse.*|hidden.*|scroll.*|clear.*|nowrap (?:begin|end)|hs|ntsh",
)
"""Boxes, citations, hatnotes, notices, pictures and layout."""
