"""What rights on tables cannot express: append-only logs, blind rounds, and what only adjudicators and owners write.

* **Logs are only appended to**: triggers refuse changes, from the owner too.
* **Rounds are blind**: while a round is open, row-level security shows its judgements, attributes and mentions only to
  those who made them, and to adjudicators and owners.
* **Settings and rounds**: a curator may write some of the project's settings, and make consistency rounds.

All functions run as the project's owner with a fixed search path, and identify the caller by `session_user`, which no
login can change. Whoever writes an own client with a curator's login can write wrong rows in that person's name: the
program alone takes care that rows are right.
"""

from __future__ import annotations

from collections.abc import Iterator

from curator.storage.db.schema import APPEND_ONLY, UNFINISHED
from curator.storage.team.postgres import SCHEMA

PEOPLE_MADE = (
    'CREATE TABLE people (login TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL UNIQUE,'
    " role TEXT NOT NULL CHECK (role IN ('adjudicator', 'curator', 'reader')))"
)
"""The logins with a role, and the name as which each decides. Owners are the members of the schema's owner."""
STANDING = """
BEGIN
  IF pg_has_role(session_user, (SELECT nspowner FROM pg_namespace WHERE nspname = current_schema()), 'USAGE') THEN
    RETURN 'owner';
  END IF;
  RETURN coalesce((SELECT role FROM people WHERE login = session_user), 'reader');
END
"""
OWN_NAME = "BEGIN RETURN coalesce((SELECT name FROM people WHERE login = session_user), session_user::text); END"
TRUSTED = "BEGIN RETURN standing() IN ('owner', 'adjudicator'); END"
SEEN_IN_ROUNDS = """
BEGIN
  RETURN NOT EXISTS (SELECT 1 FROM round_mentions m JOIN rounds r ON r.id = m.round_id
                     WHERE m.mention_id = mention AND NOT r.closed)
      OR EXISTS (SELECT 1 FROM round_mentions m WHERE m.mention_id = mention AND m.curator = own_name());
END
"""
NEXT_NUMBER = """
DECLARE found bigint;
BEGIN
  IF counted NOT IN ('judgements', 'mention_attributes', 'mentions') THEN RETURN NULL; END IF;
  EXECUTE format('SELECT coalesce(max(id), 0) + 1 FROM %I', counted) INTO found;
  RETURN found;
END
"""
REFUSE = """
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
"""
REFUSE_DECIDED = f"""
BEGIN
  IF {UNFINISHED} IS FALSE THEN RETURN OLD; END IF;
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
"""
FUNCTIONS = {
    "standing()": ("text STABLE PARALLEL SAFE", STANDING),
    "own_name()": ("text STABLE PARALLEL SAFE", OWN_NAME),
    "trusted()": ("boolean STABLE PARALLEL SAFE", TRUSTED),
    "seen_in_rounds(mention bigint)": ("boolean STABLE PARALLEL SAFE", SEEN_IN_ROUNDS),
    "next_number(counted text)": ("bigint", NEXT_NUMBER),
    "refuse()": ("trigger", REFUSE),
    "refuse_decided()": ("trigger", REFUSE_DECIDED),
}
"""Name -> what it returns, and its body."""
_OF_ROUND = "curator = (SELECT own_name()) OR (SELECT trusted()) OR round_id IN (SELECT id FROM rounds WHERE closed)"
VISIBLE = {
    "judgements": _OF_ROUND,
    "round_mentions": _OF_ROUND,
    "mention_attributes": f"round_id IS NULL OR {_OF_ROUND}",
    "mentions": "NOT deleted OR (SELECT trusted()) OR seen_in_rounds(id)",
    "fragments": "(SELECT trusted()) OR EXISTS (SELECT 1 FROM mentions m WHERE m.id = mention_id)",
}
"""Table -> the condition under which a row can be read, changed and removed, where rights and triggers allow it."""
WRITTEN = {
    "meta": "(SELECT trusted()) OR key IN ('active_rounds', 'attributes', 'inconsistencies.intended', 'opinion_prompt',"
    " 'saved_filters', 'suspicious_gold', 'suspicious_kept')",
    "rounds": "(SELECT trusted()) OR kind = 'consistency'",
    "round_documents": "(SELECT trusted()) OR round_id IN (SELECT id FROM rounds WHERE kind = 'consistency')",
}
"""Table -> the condition under which a row can be added and removed."""


def made() -> Iterator[str]:
    """The statements, for a schema with the project's tables."""
    yield PEOPLE_MADE
    for name, (returns, body) in FUNCTIONS.items():
        yield (
            f"CREATE FUNCTION {name} RETURNS {returns} LANGUAGE plpgsql SECURITY DEFINER"
            f" SET search_path = {SCHEMA}, pg_temp AS $${body}$$"
        )
    for table, words in APPEND_ONLY.items():
        refusals = [("UPDATE", "ROW", "refuse"), ("DELETE", "ROW", "refuse"), ("TRUNCATE", "STATEMENT", "refuse")]
        if table == "decisions":
            refusals[1] = ("DELETE", "ROW", "refuse_decided")
        for event, each, function in refusals:
            yield (
                f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} FOR EACH {each}"
                f" EXECUTE FUNCTION {SCHEMA}.{function}('{words} are append-only')"
            )
    yield (
        "CREATE TRIGGER source_files_stay_complete BEFORE UPDATE OF complete ON source_files FOR EACH ROW"
        f" WHEN (OLD.complete AND NOT NEW.complete) EXECUTE FUNCTION {SCHEMA}.refuse('a complete file stays complete')"
    )
    for table in (*VISIBLE, *WRITTEN):
        visible, written = VISIBLE.get(table, "true"), WRITTEN.get(table, "true")
        removed = visible if table in VISIBLE else written
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield f"CREATE POLICY visible ON {table} FOR SELECT USING ({visible})"
        yield f"CREATE POLICY added ON {table} FOR INSERT WITH CHECK ({written})"
        yield f"CREATE POLICY changed ON {table} FOR UPDATE USING ({visible}) WITH CHECK ({written})"
        yield f"CREATE POLICY removed ON {table} FOR DELETE USING ({removed})"
