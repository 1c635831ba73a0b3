"""What a row of a shared project may contain, whoever's program writes it: version 14 of the schema.

Decisions and steps are permanent, and every client reads them. One with a value that no client can read would keep
everybody from opening its document, and from exporting the project. So the database refuses such rows from all logins
but the owner's, which can also remove them: the owner is exempt because a move copies what older versions wrote.

The time of a step is not compared with the server's clock, since steps taken without the server arrive later. What
clients can make again is not checked: suggestions, and their facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from curator.storage.team.postgres import SCHEMA

# Functions without side effects. A cast that fails means that the value cannot be read.

IS_MOMENT = r"""
BEGIN
  RETURN given ~ '^(19|2\d)\d\d-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?[+-]([01]\d|2[0-3]):[0-5]\d$'
    AND given::timestamptz IS NOT NULL;
EXCEPTION WHEN OTHERS THEN RETURN false;
END
"""
"""As `datetime.isoformat` writes it, with a time zone."""
IS_JSON = """
DECLARE found jsonb;
BEGIN
  found := given::jsonb;
  RETURN jsonb_typeof(found) = split_part(kind, ' ', 1)
    AND NOT jsonb_path_exists(found, '$.**{20}')
    AND NOT jsonb_path_exists(found, '$.** ? (@.type() == "number" && (@ > 1e15 || @ < -1e15))')
    AND CASE kind
      WHEN 'array of strings' THEN NOT jsonb_path_exists(found, 'strict $[*] ? (@.type() != "string")')
      WHEN 'array of attributes' THEN NOT EXISTS (SELECT 1 FROM jsonb_array_elements(found) AS one
        WHERE (is_attribute(one) AND is_json((one -> 'types')::text, 'array of strings')
               AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(one -> 'values') AS value
                               WHERE is_attribute(value) IS NOT TRUE)) IS NOT TRUE)
      WHEN 'array of spans' THEN found <> '[]' AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(found) AS one
        WHERE (jsonb_typeof(one) = 'array' AND jsonb_array_length(one) = 2
               AND (one ->> 0)::int >= 0 AND (one ->> 1)::int > (one ->> 0)::int) IS NOT TRUE)
      WHEN 'array of ends' THEN NOT EXISTS (SELECT 1 FROM jsonb_array_elements(found) AS one
        WHERE (jsonb_typeof(one -> 'role') = 'string' AND jsonb_typeof(one -> 'mention') IN ('number', 'null')
               AND jsonb_typeof(one -> 'entity') IN ('string', 'null')) IS NOT TRUE)
      WHEN 'object of steps' THEN are_numbers(found -> 'mentions') AND are_numbers(found -> 'documents')
        AND are_numbers(found -> 'deleted') AND are_numbers(jsonb_build_array(coalesce(found -> 'document', '0')))
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(coalesce(found -> 'states', '[]')) AS one
                        WHERE are_numbers(jsonb_build_array(one -> 0)) IS NOT TRUE)
        AND NOT EXISTS (SELECT 1 FROM jsonb_each(coalesce(found -> 'relations', '{}')) AS one
                        WHERE are_numbers(one.value) IS NOT TRUE)
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(coalesce(found -> 'ended', '[]')) AS one
                        WHERE (jsonb_typeof(one -> 'text') = 'string' AND are_numbers(one -> 'mentions')) IS NOT TRUE)
      WHEN 'object' THEN true
      ELSE NOT EXISTS (SELECT 1 FROM jsonb_each(found) AS one
                       WHERE jsonb_typeof(one.value) <> split_part(kind, ' ', 3)) END;
EXCEPTION WHEN OTHERS THEN RETURN false;
END
"""
"""JSON that Python reads too: not nested more deeply than it can, and without endless numbers."""
ARE_NUMBERS = r"""
BEGIN
  RETURN given IS NULL OR jsonb_typeof(given) = 'array'
    AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(given) AS one WHERE one::text !~ '^\d{1,10}$');
END
"""
IS_ATTRIBUTE = """
BEGIN
  RETURN are_numbers(jsonb_build_array(given -> 'id')) AND jsonb_typeof(given -> 'name') = 'string'
    AND jsonb_typeof(given -> 'hidden') = 'boolean' AND coalesce(jsonb_typeof(given -> 'former'), 'array') = 'array';
END
"""
"""One of the project's attributes, or of its values."""
IS_VERDICT = """
BEGIN
  RETURN CASE outcome
    WHEN 'link' THEN reason IS NULL AND entity_ids <> '[]'
    WHEN 'nil' THEN entity_ids = '[]' AND reason IN ('not-in-kb', 'too-general', 'too-specific')
    WHEN 'rejected' THEN entity_ids = '[]' AND reason IN ('not-an-entity', 'wrong-span')
    WHEN 'skipped' THEN entity_ids = '[]' AND reason IN ('ambiguous', 'unsure')
    WHEN 'cleared' THEN entity_ids = '[]' AND reason IS NULL
    ELSE false END AND is_json(entity_ids, 'array of strings');
END
"""
CHECK_PLACE = """
DECLARE made mentions; written text;
BEGIN
  IF trusted() THEN RETURN NULL; END IF;
  SELECT * INTO made FROM mentions WHERE id = NEW.id;
  SELECT text INTO written FROM document_texts WHERE document_id = made.document_id;
  IF made.type = '' OR made.end_pos > length(written)
     OR NOT made.fragmented AND made.text <> substr(written, made.start_pos + 1, made.end_pos - made.start_pos) THEN
    RAISE EXCEPTION 'mention % is not in the text of its document', NEW.id USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN NULL;
END
"""
CHECK_VALUES = """
BEGIN
  IF standing() = 'owner' THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'a row of % has values that no client can read', TG_TABLE_NAME
    USING ERRCODE = 'invalid_parameter_value';
END
"""
FUNCTIONS = {
    "is_moment(given text)": ("boolean", "STABLE PARALLEL SAFE ", IS_MOMENT),
    "are_numbers(given jsonb)": ("boolean", "IMMUTABLE PARALLEL SAFE ", ARE_NUMBERS),
    "is_attribute(given jsonb)": ("boolean", "IMMUTABLE PARALLEL SAFE ", IS_ATTRIBUTE),
    "is_json(given text, kind text)": ("boolean", "IMMUTABLE PARALLEL SAFE ", IS_JSON),
    "is_verdict(outcome text, entity_ids text, reason text)": ("boolean", "IMMUTABLE PARALLEL SAFE ", IS_VERDICT),
    "check_place()": ("trigger", "SECURITY DEFINER ", CHECK_PLACE),
    "check_values()": ("trigger", "SECURITY DEFINER ", CHECK_VALUES),
}
_MOMENT = "{schema}.is_moment(NEW.at)"
_VERDICT = f"{{schema}}.is_verdict(NEW.outcome, NEW.entity_ids, NEW.reason) AND {_MOMENT}"
_SHOWN = "coalesce(octet_length(NEW.shown), 0) <= 65536"
_SPAN = "NEW.start_pos >= 0 AND NEW.end_pos > NEW.start_pos"
READABLE = {
    "operations": "NEW.kind IN ('decide', 'add_mention', 'delete_mention', 'change_mention', 'set_state', 'flag',"
    " 'comment', 'delete_comment', 'set_attribute', 'define_attributes', 'add_relation', 'delete_relation',"
    " 'make_entity', 'change_entity', 'delete_entity', 'remap', 'take_text', 'withdraw_import', 'intend', 'undo',"
    f" 'redo') AND {{schema}}.is_json(NEW.payload, 'object of steps') AND {_MOMENT}",
    "decisions": f"{_VERDICT} AND {_SHOWN}",
    "judgements": f"{_VERDICT} AND {_SHOWN}",
    "mention_edits": "{schema}.is_json(NEW.spans_before, 'array of spans')"
    " AND {schema}.is_json(NEW.spans_after, 'array of spans')",
    "mention_attributes": _MOMENT,
    "comments": _MOMENT,
    "opinions": _MOMENT,
    "rounds": f"NEW.kind IN ('blind', 'unaided', 'consistency') AND {_MOMENT}",
    "relations": f"{{schema}}.is_json(NEW.ends, 'array of ends') AND {_MOMENT}",
    "provisional_entities": "{schema}.is_json(NEW.types, 'array of strings')"
    f" AND {{schema}}.is_json(NEW.synonyms, 'array of strings') AND {_MOMENT}",
    "mentions": f"NEW.origin IN ('source', 'curator', 'detected') AND {_SPAN}",
    "fragments": _SPAN,
    "documents": "NEW.state IN ('todo', 'in_progress', 'done', 'discuss')",
    "claims": "NEW.until < now() + interval '2 days'",
    "meta": "coalesce(NEW.value = '' OR {schema}.is_json(NEW.value, CASE NEW.key WHEN 'active_rounds' THEN"
    " 'object of number' WHEN 'inconsistencies.intended' THEN 'object of array' WHEN 'saved_filters' THEN"
    " 'object of object' WHEN 'suspicious_kept' THEN 'object of object' WHEN 'suspicious_gold' THEN 'object'"
    " WHEN 'attributes' THEN 'array of attributes' END), true)",
}
"""Table -> the condition for a row that clients can read."""


def made() -> Iterator[str]:
    """The statements of version 14, for a project with the tables of version 13."""
    for name, (returns, kind, body) in FUNCTIONS.items():
        yield (
            f"CREATE FUNCTION {name} RETURNS {returns} LANGUAGE plpgsql {kind}"
            f"SET search_path = {SCHEMA}, pg_temp AS $${body}$$"
        )
    for table, readable in READABLE.items():
        condition = readable.format(schema=SCHEMA)
        yield (
            f"CREATE TRIGGER {table}_own_values BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW"
            f" WHEN (({condition}) IS NOT TRUE) EXECUTE FUNCTION {SCHEMA}.check_values()"
        )
    yield (
        "CREATE CONSTRAINT TRIGGER mentions_step_placed AFTER INSERT OR UPDATE OF start_pos, end_pos, text, type"
        " ON mentions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION"
        f" {SCHEMA}.check_place()"
    )
