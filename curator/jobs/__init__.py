"""Child processes and worker threads: the linker, index builds, training, evaluation.

* **Every message between the window and a child process is a type in `wire.py`**: if you change one, raise `VERSION`;
  `tests/curator/jobs/test_wire.py` fails until you do. Each end refuses another version with a clear error.
* **Every child ends with its parent** (`start.py`), so none outlives a killed program.
* **Every child sends heartbeats** (`heartbeat.py`); one that stops is ended. A linker that dies or is ended is
  restarted, and its request is repeated once. A job ends with a sentence; `services` restarts it, if that costs little.
* **Children stand still while the window handles a key**, and so does work in threads that can wait (`Pauses` in
  `child.py`).
* **Linking on Ray gives the same answers** (`bulk.py`, `bulk_main.py`): its actors answer the messages that the linker
  process would get. Blocks and shards are files in the project's folder, which the machines of a cluster must share: no
  other transport is needed, and finished answers survive a failure of Ray.
"""
