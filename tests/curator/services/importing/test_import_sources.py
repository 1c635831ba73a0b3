"""What of folders and archives is read, and what is left out, file by file."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from curator.domain.wording import UnreadableError, UserError
from curator.io.files.opening import unreadable
from curator.io.files.source import MOST_BYTES, Files
from curator.io.registry import default_registry
from curator.services.importing.import_sources import sources_of
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, document, finish

Corpus = Callable[[Mapping[str, str | bytes]], Path]
EIO = OSError(5, "Input/output error")
PAIR = {"a.txt": "With aspirin.\n", "a.ann": "T1\tDrug 5 12\taspirin\n"}
BIOC = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
    "<collection><source/><date/><key/>"
    "<document><id>9</id><passage><offset>0</offset><text>An ox.</text></passage></document></collection>"
)


@pytest.fixture(params=["folder", "zip"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Corpus:
    """The same files as a folder or as an archive."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        if request.param == "zip":
            path = tmp_path / "corpus.zip"
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in files.items():
                    archive.writestr(name, content)
            return path
        path = tmp_path / "corpus"
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def test_one_brat_pair_hides_no_other_document(world: World, corpus: Corpus) -> None:
    others = {f"{n}.pubtator": document(n) for n in range(1, 61)}
    path = corpus(PAIR | others | {"sub/b.xml": BIOC, "sub/picture.png": b"\x89PNG\0", "notes.md": "Notes.\n"})
    report = finish(world.project.importing.documents([path]))
    assert report.counts["documents"] == 62
    assert world.project.queue.count(QueueFilter()) == 62
    told = {Path(one.file).name: one.problem.text for one in report.problems if one.problem.severity == "set aside"}
    assert set(told) == {"picture.png", "notes.md"}
    assert "binary file" in told["picture.png"]
    assert told["notes.md"] == "left out: not in a readable format"


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("pair", [{}, PAIR], ids=["files", "a folder read whole"])
def test_links_that_lead_out_of_the_folder_are_not_followed(
    world: World, tmp_path: Path, pair: Mapping[str, str]
) -> None:
    (private := tmp_path / "private").mkdir()
    (private / "letter.txt").write_text("Dear colleague")
    (private / "letter.ann").write_text("")
    (corpus := tmp_path / "corpus").mkdir()
    for name, content in (pair or {"a.pubtator": document(1)}).items():
        (corpus / name).write_text(content)
    (corpus / "inside").symlink_to(corpus / next(iter(pair), "a.pubtator"))
    (corpus / "letter.txt").symlink_to(private / "letter.txt")
    (corpus / "letter.ann").symlink_to("../private/letter.ann")
    (corpus / "all").symlink_to(private)
    report = finish(world.project.importing.documents([corpus]))
    told = {Path(one.file).name for one in report.problems if "leads out" in one.problem.text}
    assert told == {"letter.txt", "letter.ann", "all"}
    texts = [world.project.queue.open(one).document.text for one in world.project.queue.ids(QueueFilter())]
    assert texts
    assert "Dear colleague" not in texts


@pytest.mark.skipif(sys.platform == "win32", reason="makes pipes as POSIX systems do")
@pytest.mark.parametrize("pair", [{}, PAIR], ids=["files", "a folder read whole"])
def test_pipes_and_sockets_are_not_opened_and_are_named(world: World, tmp_path: Path, pair: Mapping[str, str]) -> None:
    (corpus := tmp_path / "corpus").mkdir()
    for name, content in (pair or {"a.pubtator": document(1)}).items():
        (corpus / name).write_text(content)
    (corpus / "sub").mkdir()
    for name in ("d.txt", "sub/d.ann", ".hidden"):
        os.mkfifo(corpus / name)
    (corpus / "link.txt").symlink_to("d.txt")
    report = finish(world.project.importing.documents([corpus]))
    told = [Path(one.file).relative_to(corpus).as_posix() for one in report.problems if "a pipe" in one.problem.text]
    assert told == ["d.txt", "link.txt", "sub/d.ann"]
    assert report.counts["documents"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize(
    ("files", "links", "told"),
    [
        (
            {"sub/b.txt": "b", "sub/b.ann": PAIR["a.ann"], "d.pubtator": document(1)},
            {"all": "private", "e.pubtator": "private/letter.pubtator", "sub/more": "private"},
            {"all", "e.pubtator", "sub/more"},
        ),
        (
            {"sub/b.txt": "b", "sub/b.ann": PAIR["a.ann"], "d.pubtator": document(1)},
            {"sub/c.txt": "private/letter.txt", "sub/c.ann": "private/letter.ann"},
            {"sub/c.txt", "sub/c.ann"},
        ),
        (
            {"a.ann": PAIR["a.ann"], "d.pubtator": document(1)},
            {"a.txt": "private/letter.txt", "e.pubtator": "corpus/d.pubtator"},
            {"a.ann", "a.txt"},
        ),
        (
            {"a.txt": PAIR["a.txt"], "d.pubtator": document(1)},
            {"a.ann": "private/letter.ann"},
            {"a.ann", "a.txt"},
        ),
        (  # inside the folder, but out of the one that is read as a whole; and a circle
            {"sub/b.txt": "b", "sub/b.ann": PAIR["a.ann"], "d.pubtator": document(1)},
            {"sub/d.txt": "corpus/d.pubtator", "sub/back": "corpus", "round": "corpus/round"},
            {"sub/d.txt", "sub/back"},
        ),
    ],
    ids=["folders", "pair in a folder", "text of a pair", "annotations of a pair", "inside"],
)
def test_links_are_not_followed_in_mixed_folders(
    world: World, tmp_path: Path, files: Mapping[str, str], links: Mapping[str, str], told: set[str]
) -> None:
    private = {"letter.txt": "Dear aspirin", "letter.ann": "T1\tSecret 0 4\tDear\n", "letter.pubtator": document(66)}
    here = {f"private/{name}": text for name, text in private.items()} | {f"corpus/{n}": files[n] for n in files}
    for name, content in here.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    corpus = tmp_path / "corpus"
    for name, target in links.items():
        (corpus / name).symlink_to(tmp_path / target)
    report = finish(world.project.importing.documents([corpus]))
    found = {Path(one.file).relative_to(corpus).as_posix() for one in report.problems if "out of the f" in str(one)}
    assert found == told
    documents = [world.project.queue.open(one).document for one in world.project.queue.ids(QueueFilter())]
    assert {one.external_id for one in documents} == {"1", *(["b"] if "sub/b.txt" in files else [])}
    assert report.counts["documents"] == len(documents)
    assert not any("Dear" in one.text for one in documents)


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
def test_a_chosen_file_may_be_a_link_and_its_companions_may_not(world: World, tmp_path: Path) -> None:
    (private := tmp_path / "private").mkdir()
    (private / "letter.txt").write_text("Dear aspirin")
    (corpus := tmp_path / "corpus").mkdir()
    (corpus / "a.ann").write_text(PAIR["a.ann"])
    (corpus / "a.txt").symlink_to(private / "letter.txt")
    for name in ("", "brat"):
        with pytest.raises(UserError, match=r"a\.txt was not opened: it leads out of the folder .*corpus through"):
            finish(world.project.importing.documents([corpus / "a.ann"], format_name=name))
    report = finish(world.project.importing.documents([corpus / "a.txt"]))
    assert report.counts["documents"] == 1


def test_plain_text_beside_documents_of_a_format_is_left_out(world: World, corpus: Corpus) -> None:
    path = corpus(
        {f"sub/{name}": content for name, content in PAIR.items()} | {"p.txt": document(1), "q.txt": "Plain."}
    )
    report = finish(world.project.importing.documents([path]))
    assert report.counts["documents"] == 2
    assert [(Path(one.file).name, one.problem.text) for one in report.problems] == [
        ("q.txt", "left out: plain text next to documents in another format")
    ]


def test_pairs_are_read_where_another_format_reads_the_collection(world: World, corpus: Corpus) -> None:
    annotations = '{"text": "An ox.", "denotations": [], "sourcedb": "PubMed", "sourceid": "7"}'
    pairs = {f"{name}": content for name, content in PAIR.items()} | {"b.txt": "It.", "b.ann": "no annotations"}
    path = corpus(
        pairs | {"c.txt": "Not.", "c.ann": "nothing", "d.txt": "And.", "d.ann": "none", "p.json": annotations}
    )
    report = finish(world.project.importing.documents([path]))
    assert report.counts["documents"] == 2
    assert {Path(one.file).name for one in report.problems} == {f"{x}.{end}" for x in "bcd" for end in ("txt", "ann")}


def test_a_stray_annotation_file_is_left_out_and_the_others_are_read(world: World, corpus: Corpus) -> None:
    path = corpus({"1.pubtator": document(1), "2.pubtator": document(2), "stray.ann": PAIR["a.ann"]})
    report = finish(world.project.importing.documents([path]))
    assert report.counts["documents"] == 2
    [problem] = report.problems
    assert Path(problem.file).name == "stray.ann"
    assert problem.problem.text == "left out: contains brat annotations, but its text stray.txt is missing"


def test_a_format_that_is_chosen_reads_nothing_else(world: World, corpus: Corpus) -> None:
    path = corpus(PAIR | {"1.pubtator": document(1), "2.txt": document(2)})
    formats = default_registry().fixed("pubtator")
    found = sources_of([path], formats)
    assert [one.name for one in found.paths] == ["1.pubtator", "2.txt"]
    assert {name for one in found.left for name in one.names} == {"a.ann", "a.txt"}
    report = finish(world.project.importing.documents([path], format_name="pubtator"))
    assert report.counts["documents"] == 2
    assert {one.problem.text for one in report.problems} == {"left out: is not PubTator: choose another format"}


def test_files_that_are_no_texts_are_named_once_where_plain_text_is_chosen(world: World, corpus: Corpus) -> None:
    path = corpus({"one.txt": "Plain.", "1.pubtator": document(1), "stray.ann": PAIR["a.ann"]})
    report = finish(world.project.importing.documents([path], format_name="text"))
    assert report.counts["documents"] == 1
    assert [one.problem.text for one in report.problems] == ["2 other files are not text: 1.pubtator, stray.ann"]


def test_a_file_that_came_in_as_one_format_can_come_in_as_another(world: World) -> None:
    path = world.write(document(1), name="a.txt")
    finish(world.project.importing.documents([path]))
    report = finish(world.project.importing.documents([path], format_name="text"))
    assert report.counts["documents"] == 1


def test_names_of_formats_are_listed_where_one_is_wrong() -> None:
    with pytest.raises(UserError, match=r"no format 'bart' to read: choose one of bioc-json, .*brat.*pubtator"):
        default_registry().fixed("bart")


def test_what_could_not_be_read_is_not_imported_file_by_file(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    path = corpus(PAIR)
    formats = default_registry()
    recognise = formats.recognise

    def failing(one: Path) -> object:
        if one == path:
            raise unreadable(one, EIO) from EIO
        return recognise(one)

    monkeypatch.setattr(formats, "recognise", failing)
    with pytest.raises(UnreadableError, match="Input/output error"):
        sources_of([path], formats)


@pytest.mark.parametrize("at", [1, 2])
def test_a_read_me_next_to_an_unread_corpus_is_no_document(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    path = corpus({"corpus.xml": BIOC, "README.txt": "About it.\n", "NEWS.txt": "None.\n"})
    formats = default_registry()
    recognise, asked = formats.recognise, list[Path]()

    def failing(one: Path) -> object:
        if one.name == "corpus.xml":
            asked.append(one)
            if len(asked) == at:
                raise unreadable(one, EIO) from EIO
        return recognise(one)

    monkeypatch.setattr(formats, "recognise", failing)
    with pytest.raises(UnreadableError, match=r"corpus\.xml: Input/output error"):
        sources_of([path], formats)
    assert [one.name for one in sources_of([path], formats).paths] == ["corpus.xml"]


def test_a_folder_that_could_not_be_listed_is_not_imported_file_by_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in PAIR.items():
        (tmp_path / name).write_text(content)
    scan, failures = os.scandir, [EIO]

    def disk(path: str) -> object:
        if failures:
            raise failures.pop()
        return scan(path)

    monkeypatch.setattr(os, "scandir", disk)
    with pytest.raises(UnreadableError, match="cannot read the folder"):
        sources_of([tmp_path], default_registry())


def test_after_a_failing_read_the_same_import_is_whole(
    world: World, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus(PAIR | {"b.txt": "An ox.\n", "b.ann": "T1\tAnimal 3 5\tox\n"})
    read = Files.read
    failing = {"b.ann"}

    def disk(files: Files, name: str, most: int = MOST_BYTES) -> bytes:
        if name in failing:
            raise unreadable(files.shown(name), EIO) from EIO
        return read(files, name, most)

    monkeypatch.setattr(Files, "read", disk)
    with pytest.raises(UnreadableError, match=r"b\.ann: Input/output error"):
        finish(world.project.importing.documents([path]))
    assert world.project.queue.count(QueueFilter()) == 0
    failing.clear()
    report = finish(world.project.importing.documents([path]))
    assert (report.counts["documents"], report.counts["mentions"]) == (2, 2)
