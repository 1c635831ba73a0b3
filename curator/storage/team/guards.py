"""What the database itself refuses to a login, with any program: version 13 of the schema.

`roles` grants rights on tables and columns. Rights cannot express the following rules, so triggers and row-level
security check them. All functions run as the project's owner with a fixed search path, and identify the caller by
`session_user`, which no login can change: neither with SET ROLE nor with names in the rows.

* **Rows carry their writer's name.** Steps, decisions, judgements, attributes, comments, relations and claims are
  accepted only with the name of the login (`people.name`). A decision that an undo restores keeps its curator.
* **Logs only grow at their end**: with the next number, in turn with all other writers, and decisions and edits only in
  a step that the same login writes in the same transaction.
* **Nothing changes without a step**: mentions, states, flags, comments, relations and new entities change only together
  with a step of the login in the same transaction. The current decision of a mention is always its last one.
* **Rounds are blind**: while a round is open, its judgements, attributes and mentions are visible only to those who
  made them, and to adjudicators and owners.

The owner is exempt, because an owner of tables can remove triggers. Adjudicators may also enter what files contain:
steps and gold of imports, and other people's judgements in round files.
"""

from __future__ import annotations

from collections.abc import Iterator

from curator.storage.team.postgres import SCHEMA, TURN

PEOPLE_MADE = (
    'CREATE TABLE people (login TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C" NOT NULL UNIQUE,'
    " role TEXT NOT NULL CHECK (role IN ('adjudicator', 'curator', 'reader')))"
)
"""The logins with a role, and the name as which each decides. Owners are the members of the schema's owner."""
NAMED = {
    "operations": "actor",
    "imports": "curator",
    "judgements": "curator",
    "mention_attributes": "curator",
    "round_mentions": "curator",
    "comments": "author",
    "relations": "author",
    "provisional_entities": "author",
}
"""Table -> the column with the writer's name. Decisions are checked by `check_decision`."""
NUMBERED = ("operations", "judgements", "mention_attributes", "comments", "relations", "mentions", "mention_edits")

# Who asks.

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
OWN_STEP = """
DECLARE step record;
BEGIN
  SELECT actor, xmin = pg_current_xact_id()::xid AS now INTO step FROM operations ORDER BY id DESC LIMIT 1;
  RETURN coalesce(step.now AND step.actor = own_name(), false);
END
"""
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
  IF counted NOT IN ('operations', 'decisions', 'judgements', 'mention_attributes', 'comments', 'relations', 'mentions',
                     'mention_edits') THEN
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT coalesce(max(id), 0) + 1 FROM %I', counted) INTO found;
  RETURN found;
END
"""

# What is checked when a row is written.

CHECK_ROW = """
DECLARE rank text := standing(); who text;
BEGIN
  IF rank = 'owner' THEN RETURN NEW; END IF;
  PERFORM pg_advisory_xact_lock(:turn);
  IF TG_ARGV[0] <> '' THEN
    EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO who USING NEW;
    IF who IS DISTINCT FROM own_name()
       AND NOT (rank = 'adjudicator' AND TG_TABLE_NAME <> 'imports'
                AND (TG_TABLE_NAME <> 'operations' OR who LIKE 'import:%')) THEN
      RAISE EXCEPTION 'this login writes as %, not as %', own_name(), who USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  IF TG_ARGV[1] = 'id' THEN
    IF NEW.id <> next_number(TG_TABLE_NAME) THEN
      RAISE EXCEPTION '% does not follow the last number of %', NEW.id, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  RETURN NEW;
END
"""
CHECK_DECISION = """
DECLARE rank text := standing(); me text := own_name(); step record;
BEGIN
  IF rank = 'owner' THEN RETURN NEW; END IF;
  PERFORM pg_advisory_xact_lock(:turn);
  IF NEW.id <> next_number('decisions') THEN
    RAISE EXCEPTION '% does not follow the last number of decisions', NEW.id USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.operation_id IS NULL THEN
    IF rank = 'adjudicator' THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'a decision needs a step' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT actor, kind, xmin = pg_current_xact_id()::xid AS now INTO step FROM operations WHERE id = NEW.operation_id;
  IF NOT coalesce(step.now AND (step.actor = me OR rank = 'adjudicator' AND step.actor LIKE 'import:%'), false) THEN
    RAISE EXCEPTION 'step % is not of this login and transaction', NEW.operation_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.curator <> me AND step.actor = me AND NOT (step.kind IN ('undo', 'redo') AND EXISTS
     (SELECT 1 FROM decisions d WHERE d.mention_id = NEW.mention_id AND d.curator = NEW.curator
      AND d.outcome = NEW.outcome AND d.entity_ids = NEW.entity_ids)) THEN
    RAISE EXCEPTION 'this login decides as %, not as %', me, NEW.curator USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
"""
CHECK_PART = """
DECLARE step record;
BEGIN
  IF trusted() OR NEW.operation_id IS NULL THEN RETURN NEW; END IF;
  SELECT actor, xmin = pg_current_xact_id()::xid AS now INTO step FROM operations WHERE id = NEW.operation_id;
  IF step.actor IS DISTINCT FROM own_name() OR (TG_ARGV[0] = 'now' AND NOT step.now) THEN
    RAISE EXCEPTION 'step % is not of this login and transaction', NEW.operation_id
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
"""
CHECK_STEP = """
BEGIN
  IF trusted() OR own_step() THEN RETURN NULL; END IF;
  RAISE EXCEPTION '% change only with a step of this login', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
"""
CHECK_FRAGMENT = """
BEGIN
  IF trusted() OR own_step() OR EXISTS (SELECT 1 FROM mentions WHERE id = NEW.mention_id AND deleted
                                        AND xmin = pg_current_xact_id()::xid) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% change only with a step of this login', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
"""
POINT_TO_LAST = """
DECLARE last record;
BEGIN
  IF trusted() THEN RETURN NEW; END IF;
  SELECT id, outcome INTO last FROM decisions WHERE mention_id = NEW.id ORDER BY id DESC LIMIT 1;
  NEW.decision_id := CASE WHEN last.outcome <> 'cleared' THEN last.id END;
  NEW.outcome := CASE WHEN last.outcome <> 'cleared' THEN last.outcome END;
  RETURN NEW;
END
"""
CHECK_KEY = """
DECLARE changed text := CASE WHEN TG_OP = 'DELETE' THEN OLD.key ELSE NEW.key END;
BEGIN
  IF trusted() OR changed IN ('active_rounds', 'attributes', 'inconsistencies.intended', 'opinion_prompt',
                              'saved_filters', 'suspicious_gold', 'suspicious_kept') THEN
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  RAISE EXCEPTION '% is for adjudicators and owners', changed USING ERRCODE = 'insufficient_privilege';
END
"""
CHECK_ROUND = """
BEGIN
  IF trusted() OR (TG_TABLE_NAME = 'rounds' AND to_jsonb(NEW) ->> 'kind' = 'consistency')
     OR EXISTS (SELECT 1 FROM rounds WHERE id = (to_jsonb(NEW) ->> 'round_id')::bigint AND kind = 'consistency') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'rounds are for adjudicators and owners' USING ERRCODE = 'insufficient_privilege';
END
"""
CHECK_JUDGING = """
BEGIN
  IF trusted() OR NEW.round_id IS NULL OR EXISTS (SELECT 1 FROM rounds WHERE id = NEW.round_id AND NOT closed) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the round is closed' USING ERRCODE = 'insufficient_privilege';
END
"""
CHECK_ROUND_MENTION = """
BEGIN
  IF trusted() OR EXISTS (SELECT 1 FROM mentions WHERE id = NEW.mention_id AND deleted
                          AND xmin = pg_current_xact_id()::xid) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'mention % was not made in the round', NEW.mention_id USING ERRCODE = 'insufficient_privilege';
END
"""
CHECK_CLAIM = """
DECLARE me text := own_name();
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF trusted() OR OLD.curator = me OR OLD.until < now()
       OR EXISTS (SELECT 1 FROM documents WHERE id = OLD.document_id AND state = 'done') THEN
      RETURN OLD;
    END IF;
  ELSIF trusted() OR (NEW.curator = me AND (TG_OP = 'INSERT' OR OLD.curator = me)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'this document is handed out to somebody else' USING ERRCODE = 'insufficient_privilege';
END
"""
# As in version 11, and a login other than the owner deletes only what an import that never became complete decided.
REFUSE_VISIBLE = """
BEGIN
  IF (SELECT f.complete FROM mentions m JOIN documents d ON d.id = m.document_id
      JOIN source_files f ON f.id = d.file_id WHERE m.id = OLD.mention_id) IS FALSE
     AND (OLD.operation_id IS NULL OR standing() = 'owner') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'decisions are append-only' USING ERRCODE = 'integrity_constraint_violation';
END
"""
ASKED = {
    "standing()": ("text", STANDING),
    "own_name()": ("text", OWN_NAME),
    "trusted()": ("boolean", TRUSTED),
    "seen_in_rounds(mention bigint)": ("boolean", SEEN_IN_ROUNDS),
}
"""Functions that only read what does not change in a statement: name -> what it returns, and its body."""
CHECKS = {
    "own_step()": ("boolean", OWN_STEP),
    "next_number(counted text)": ("bigint", NEXT_NUMBER),
    "refuse_visible()": ("trigger", REFUSE_VISIBLE),
    "check_row()": ("trigger", CHECK_ROW),
    "check_decision()": ("trigger", CHECK_DECISION),
    "check_part()": ("trigger", CHECK_PART),
    "check_step()": ("trigger", CHECK_STEP),
    "check_fragment()": ("trigger", CHECK_FRAGMENT),
    "point_to_last()": ("trigger", POINT_TO_LAST),
    "check_key()": ("trigger", CHECK_KEY),
    "check_round()": ("trigger", CHECK_ROUND),
    "check_judging()": ("trigger", CHECK_JUDGING),
    "check_round_mention()": ("trigger", CHECK_ROUND_MENTION),
    "check_claim()": ("trigger", CHECK_CLAIM),
}
_OF_ROUND = "curator = (SELECT own_name()) OR (SELECT trusted()) OR round_id IN (SELECT id FROM rounds WHERE closed)"
POLICIES = {
    "judgements": _OF_ROUND,
    "round_mentions": _OF_ROUND,
    "mention_attributes": f"round_id IS NULL OR {_OF_ROUND}",
    "mentions": "NOT deleted OR (SELECT trusted()) OR seen_in_rounds(id)",
    "fragments": "(SELECT trusted()) OR EXISTS (SELECT 1 FROM mentions m WHERE m.id = mention_id)",
}
"""Table -> the condition under which a row can be read, changed and removed, where triggers and roles allow it."""
_STATE = "(OLD.state, OLD.flagged) IS DISTINCT FROM (NEW.state, NEW.flagged)"
_POINTER = "(OLD.outcome, OLD.decision_id) IS DISTINCT FROM (NEW.outcome, NEW.decision_id)"
_AUTHOR = "OLD.author IS DISTINCT FROM NEW.author"
TRIGGERS = (
    *(
        ("row", "INSERT", one, "", f"check_row('{NAMED.get(one, '')}', '{'id' if one in NUMBERED else ''}')")
        for one in sorted({*NAMED, *NUMBERED})
    ),
    ("author", "UPDATE", "provisional_entities", _AUTHOR, "check_row('author', '')"),
    ("row", "INSERT", "decisions", "", "check_decision()"),
    ("part", "INSERT", "mention_edits", "", "check_part('now')"),
    ("part", "INSERT", "mention_attributes", "", "check_part('now')"),
    ("part", "INSERT", "efforts", "", "check_part('')"),
    ("last", "UPDATE", "mentions", _POINTER, "point_to_last()"),
    ("key", "INSERT OR UPDATE OR DELETE", "meta", "", "check_key()"),
    ("round", "INSERT", "rounds", "", "check_round()"),
    ("round", "INSERT", "round_documents", "", "check_round()"),
    ("judging", "INSERT", "judgements", "", "check_judging()"),
    ("judging", "INSERT", "mention_attributes", "", "check_judging()"),
    ("judging", "INSERT", "round_mentions", "", "check_judging()"),
    ("made", "INSERT", "round_mentions", "", "check_round_mention()"),
    ("claim", "INSERT OR UPDATE OR DELETE", "claims", "", "check_claim()"),
)
"""Checked for each row: name, events, table, condition, check."""
AT_COMMIT = (
    ("made", "INSERT", "mentions", "NOT NEW.deleted", "check_step()"),
    ("changed", "UPDATE", "mentions", "", "check_step()"),
    ("changed", "UPDATE", "documents", _STATE, "check_step()"),
    ("changed", "INSERT OR UPDATE", "comments", "", "check_step()"),
    ("changed", "INSERT OR UPDATE", "relations", "", "check_step()"),
    ("changed", "INSERT OR UPDATE", "provisional_entities", "", "check_step()"),
    ("made", "INSERT", "fragments", "", "check_fragment()"),
    ("changed", "DELETE", "fragments", "", "check_step()"),
)
"""The same when the transaction ends, as steps may be written after what belongs to them."""


def made() -> Iterator[str]:
    """The statements of version 13, for a project with the tables of version 12."""
    yield PEOPLE_MADE
    fixed = f"SET search_path = {SCHEMA}, pg_temp"  # or a caller's tables could be taken for the project's
    yield f"ALTER FUNCTION refuse() {fixed}"
    for functions, kind in ((ASKED, "STABLE PARALLEL SAFE "), (CHECKS, "")):
        for name, (returns, body) in functions.items():
            yield (
                f"CREATE OR REPLACE FUNCTION {name} RETURNS {returns} LANGUAGE plpgsql {kind}SECURITY DEFINER"
                f" {fixed} AS $${body.replace(':turn', str(TURN))}$$"
            )
    for name, events, table, when, check in TRIGGERS:
        yield (
            f"CREATE TRIGGER {table}_own_{name} BEFORE {events} ON {table} FOR EACH ROW {_when(when)}"
            f"EXECUTE FUNCTION {SCHEMA}.{check}"
        )
    for name, events, table, when, check in AT_COMMIT:
        yield (
            f"CREATE CONSTRAINT TRIGGER {table}_step_{name} AFTER {events} ON {table} DEFERRABLE INITIALLY DEFERRED"
            f" FOR EACH ROW {_when(when)}EXECUTE FUNCTION {SCHEMA}.{check}"
        )
    for table, visible in POLICIES.items():
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield f"CREATE POLICY visible ON {table} FOR SELECT USING ({visible})"
        yield f"CREATE POLICY added ON {table} FOR INSERT WITH CHECK (true)"
        yield f"CREATE POLICY changed ON {table} FOR UPDATE USING ({visible}) WITH CHECK (true)"
        yield f"CREATE POLICY removed ON {table} FOR DELETE USING ({visible})"


def _when(condition: str) -> str:
    return f"WHEN ({condition}) " if condition else ""
