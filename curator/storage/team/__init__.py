"""Shared projects: a PostgreSQL database instead of a folder. Imported only when one is opened.

* **One schema**: the tables come from the same mappings as those of a folder, and the repositories of
  `curator.storage.curation` query both; differences between the dialects are in `curator/storage/db/dialects.py`.
* **Knowledge bases and linkers are copied** to each computer, checked by hash, so that search and linking are as fast
  as in a folder and do not use the server.
* **Writers take turns, over all clients**: each writing transaction first takes one advisory lock, like SQLite's file
  lock. So ids have no gaps, hashes form a chain, and repositories need not handle other writers. A decision holds the
  lock for some milliseconds; an idle transaction loses it after a minute.
* **A decision has two round trips, and one of them in its turn** (`round_trips.py`): the turn with everything that is
  read, then everything that is written, with the commit. Waiting for the server and for processor time inside of a
  turn adds up over all curators: with 20 ms per round trip, a team makes 26 decisions a second. News of others are one
  query per half second, of what is new since the last one read.
* **A second lock shows who is connected**, shared by all writers: operations that need exclusive access (upgrades,
  removing interrupted imports, moves) take it exclusively or are postponed.
* **Roles are granted to logins, not to group roles**: creating those needs CREATEROLE, which the owner of a database
  often lacks, and their names are shared by all databases of a server. Permissions limit what each role reads and
  writes (`roles`); triggers keep logs append-only, and row-level security hides the judgements of open rounds
  (`guards`). The login's name replaces the one in the settings.
* **Each curator undoes their own steps**: the stacks of operations contain the rows of one actor, in a folder those of
  all. A step is refused if others have changed its mentions since.
* **A step shown as saved is on the server's disk**: PostgreSQL confirms a commit after syncing its log, also where
  `synchronous_commit` is off for others.
* **A restored backup is noticed** by the hash of the last operation that a client has seen; it then reads everything
  again.
* **The window reads as from a folder.** While the server is away, it reads copies of some documents, and decisions wait
  in a journal of this computer until they can be sent (`absence.py`).
* **No Alembic.** A migration is a list of statements in one transaction, which PostgreSQL supports for tables
  (`schema.MIGRATIONS`); for folders it is a function (`curator/storage/migrations.py`). Their versions are numbered
  separately, since shared projects have additional tables.
* **A move copies rows**: ids, times and hashes are kept, so that the hash chain stays valid. It is one transaction, or
  one folder that is renamed at the end: a stopped move leaves nothing at its target, and begins again.
* **Claims skip no locked rows** (`SKIP LOCKED`): writers take turns, so that none of them meets a locked row.
* **Knowledge bases and linkers are fetched from the database only**, where roles limit who reads and writes them; a
  folder or a web page as a second source would need rules of its own.
* **U+0000 is refused**: PostgreSQL's texts cannot contain it, and any substitute could also occur in documents.
* **Names of any length are indexed** by their hash where SQLite has an ordered index: PostgreSQL's ordered indexes are
  limited to 2,704 bytes.
"""
