"""Import at the size of a working corpus: seconds, CPU time and peak memory of `curator import`.

    .venv/bin/python -m tests.benchmarks.import_scale                    # 100,000 generated PubMed records, .xml.gz
    .venv/bin/python -m tests.benchmarks.import_scale --records 20000
    .venv/bin/python -m tests.benchmarks.import_scale --file NAME         # a file of any format, such as MedMentions

Records are as large as in PubMed's baseline (authors, MeSH headings, references; about 8 kB): a title, and a structured
abstract of 190 words except for every seventh. The whole command is measured, in its own process. On a busy machine,
clock time depends on the other work, so CPU time is reported, too.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.kb_search import Speech

LABELS = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January'
    ' 2024//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">\n<PubmedArticleSet>\n'
)
ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID>
<DateCompleted><Year>2001</Year><Month>01</Month><Day>11</Day></DateCompleted><Article PubModel="Print"><Journal>
<ISSN IssnType="Print">0006-291X</ISSN><Title>{journal}</Title></Journal><ArticleTitle>{title}.</ArticleTitle>{abstract}
<AuthorList CompleteYN="Y">{authors}</AuthorList><Language>eng</Language></Article><MeshHeadingList>{headings}
</MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>
</ArticleIdList><ReferenceList>{references}</ReferenceList></PubmedData></PubmedArticle>
"""


def write_records(path: Path, number: int) -> int:
    """Bytes before compression."""
    speech, size = Speech(), 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=3) as file:
        file.write(HEAD)
        for pmid in range(1, number + 1):
            text = _article(speech, pmid)
            size += len(text)
            file.write(text)
        file.write("</PubmedArticleSet>\n")
    return size


def _article(speech: Speech, pmid: int) -> str:
    parts = [f'<AbstractText Label="{one}">{speech.some(40)} <i>{speech.some(2)}</i>.</AbstractText>' for one in LABELS]
    authors = "".join(
        f"<Author><LastName>{speech.some(1)}</LastName><ForeName>{speech.some(1)}</ForeName><AffiliationInfo>"
        f"<Affiliation>{speech.some(12)}</Affiliation></AffiliationInfo></Author>"
        for _ in range(5)
    )
    headings = "".join(
        f'<MeshHeading><DescriptorName UI="D{n:06}" MajorTopicYN="N">{speech.some(2)}</DescriptorName></MeshHeading>'
        for n in range(12)
    )
    references = "".join(
        f"<Reference><Citation>{speech.some(14)}</Citation><ArticleIdList><ArticleId IdType='pubmed'>{n}</ArticleId>"
        "</ArticleIdList></Reference>"
        for n in range(18)
    )
    return ARTICLE.format(
        pmid=pmid,
        journal=speech.some(4),
        title=speech.some(12),
        abstract=f"<Abstract>{''.join(parts)}</Abstract>" if pmid % 7 else "",
        authors=authors,
        headings=headings,
        references=references,
    )


def measure(project: Path, file: Path) -> str:
    """One sentence about `curator import` of the file into the project."""
    command = [sys.executable, "-m", "curator", "import", str(project), str(file)]
    started = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert running.stdout is not None
    said = running.stdout.readline().strip()
    running.stdout.close()
    _, status, usage = os.wait4(running.pid, 0)
    seconds = time.perf_counter() - started
    running.returncode = os.waitstatus_to_exitcode(status)
    busy, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return f"{said} Whole command: {seconds:.1f} s, processor {busy:.1f} s, at most {memory:.0f} MB resident."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--file", type=Path, help="measure this file instead")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file: Path = chosen.file or folder / "pubmed.xml.gz"
        if not chosen.file:
            size = write_records(file, chosen.records)
            print(
                f"{chosen.records:,} records: {size / 1e6:,.0f} MB of XML, {file.stat().st_size / 1e6:,.0f} MB as gzip"
            )
        project = folder / "scale.curation"
        subprocess.run([sys.executable, "-m", "curator", "new", str(project)], check=True, stdout=subprocess.DEVNULL)
        print(measure(project, file))


if __name__ == "__main__":
    main()
