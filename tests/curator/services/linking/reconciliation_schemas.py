"""JSON schemas of what the Reconciliation Service API 0.2 answers, written from the text of its specification."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string", "minLength": 1}
TYPED = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
TEMPLATE = {"type": "string", "pattern": r"\{\{id\}\}"}
PLACE = {
    "type": "object",
    "properties": {"service_url": {"type": "string", "format": "uri"}, "service_path": {"type": "string"}},
    "required": ["service_url", "service_path"],
}


def listed(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


MANIFEST = {
    "type": "object",
    "properties": {
        "versions": {**listed({"type": "string"}), "contains": {"const": "0.2"}},
        "name": TEXT,
        "identifierSpace": {"type": "string", "format": "uri"},
        "schemaSpace": {"type": "string", "format": "uri"},
        "defaultTypes": {**listed(TYPED), "uniqueItems": True},
        "batchSize": {"type": "integer", "minimum": 1},
        "view": {"type": "object", "properties": {"url": TEMPLATE}, "required": ["url"]},
        "preview": {
            "type": "object",
            "properties": {"url": TEMPLATE, "width": {"type": "integer"}, "height": {"type": "integer"}},
            "required": ["url", "width", "height"],
        },
        "suggest": {
            "type": "object",
            "properties": dict.fromkeys(("entity", "property", "type"), PLACE),
            "additionalProperties": False,
        },
        "extend": {
            "type": "object",
            "properties": {"propose_properties": PLACE, "property_settings": {"type": "array"}},
            "additionalProperties": False,
        },
    },
    "required": ["versions", "name", "identifierSpace", "schemaSpace"],
}
CANDIDATE = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "name": TEXT,
        "description": {"type": "string"},
        "type": listed(TYPED),
        "score": {"type": "number"},
        "match": {"type": "boolean"},
        "features": listed(
            {
                "type": "object",
                "properties": {"id": TEXT, "value": {"type": ["number", "boolean"]}},
                "required": ["id", "value"],
            }
        ),
    },
    "required": ["id", "name", "score"],
}
RESULTS = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"result": listed(CANDIDATE)},
        "required": ["result"],
        "additionalProperties": False,
    },
}
SUGGESTED = {
    "type": "object",
    "properties": {
        "result": listed(
            {
                "type": "object",
                "properties": {"id": TEXT, "name": TEXT, "description": {"type": "string"}, "notable": listed(TYPED)},
                "required": ["id", "name"],
            }
        )
    },
    "required": ["result"],
}
PROPOSED = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "properties": listed(TYPED)},
    "required": ["type", "properties"],
}
VALUE = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"id": TEXT, "name": TEXT},
            "required": ["id", "name"],
            "additionalProperties": False,
        },
        {"type": "object", "properties": {"str": TEXT}, "required": ["str"], "additionalProperties": False},
    ]
}
EXTENDED = {
    "type": "object",
    "properties": {
        "meta": listed(TYPED),
        "rows": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": listed(VALUE)}},
    },
    "required": ["meta", "rows"],
}
