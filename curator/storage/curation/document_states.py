"""States of many documents at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select, update

from curator.domain.documents import DocumentState
from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.storage.db.rows import among, chunks, ids_of, unique
from curator.storage.db.schema import DocumentRow

_STATES = select(DocumentRow.id, DocumentRow.state).where(among(DocumentRow.id))


def states_of(conn: Connection, document_ids: Sequence[int]) -> dict[int, DocumentState]:
    """By id. Raises UserError when a document does not exist."""
    wanted = unique(document_ids)
    found = {row[0]: DocumentState(row[1]) for row in conn.execute(_STATES, ids_of(wanted))}
    for document_id in wanted:
        if document_id not in found:
            raise UserError(tr("There is no document {document_id} in this project.", document_id=document_id))
    return found


def set_states(conn: Connection, states: Mapping[int, DocumentState]) -> None:
    """Raises UserError when a document does not exist; nothing is changed then."""
    states_of(conn, list(states))
    for state in dict.fromkeys(states.values()):
        for part in chunks([one for one, wanted in states.items() if wanted is state]):
            conn.execute(update(DocumentRow).where(DocumentRow.id.in_(part)).values(state=state.value))
