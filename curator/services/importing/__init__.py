"""Import of documents, gold and knowledge bases: with a preview, then stored in short steps.

`ImportService` and `FetchService` are generators of `Progress` that return an `ImportReport`. `foreseeing.py` previews
an import, `text_changes.py` the effect of a changed text, and `look` recognises paths, one file at a time.
`FetchService` downloads PubMed records, stores them as received and imports them as a file. `gold.py` also restores
curators' data from our own JSON lines: decisions, comments, flags, splits. `document_formats` lists what each format
can represent (`Carries`), for `curator formats`, the manual, and the losses of an export.

* **Imports become visible through a flag.** Rows are written in short transactions and become visible when the last one
  sets the file (or the version of the knowledge base) to complete. The remains of an interrupted import are removed
  when the project is next opened. A curator's decision never waits for a long transaction.
* **An import is undone by hiding it.** Decisions are append-only, so a flag of the source file hides its documents:
  every query selects only visible files; only the audit trail reads all files. The list of imports is append-only, and
  an entry clears the undo stack, because earlier steps could not be undone safely.
* **A document keeps its id when its text changes.** The old text goes to `former_texts`, mentions move through
  `mention_edits` (`curator/io/files/moving.py`: mentions in common text move with it, others are found by quotation and
  context or not at all), and one operation can undo it. The document then belongs to the newer file, whose record is
  written back. For files with other names, a document is the same only if it has the same id and the same text, or
  nearly the same long text.
* **A stopped import is resumed by importing the same files again**: a file is stored whole or not at all, and a file
  whose digest is known is left out.
* **Gold is imported as decisions in done documents.** An annotation whose identifiers are not in the knowledge base is
  NIL; its identifiers stay with the mention, so that the export writes them back.
"""
