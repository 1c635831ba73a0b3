"""The list of all that is inside a bundle, as CycloneDX 1.5: `sbom.cdx.json`."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packing.licences import Part

SPACE = uuid.UUID("7f6b1f5e-6f0b-4a57-9f5c-2d2a4d1f9b10")
SPDX_ID = re.compile(r"[A-Za-z0-9.+-]+")
OPERATORS = re.compile(r"\b(AND|OR|WITH)\b|[()]")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def sbom(name: str, version: str, parts: Iterable[Part], *, epoch: int) -> dict[str, Any]:
    """The document; the same for the same parts, version and time (`SOURCE_DATE_EPOCH`)."""
    listed = list(parts)
    whole = "\n".join(one.purl for one in listed)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(SPACE, f'{name} {version} {epoch} {whole}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": f"pkg:generic/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:generic/{name}@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            },
        },
        "components": [_component(one) for one in listed],
        "dependencies": [{"ref": f"pkg:generic/{name}@{version}", "dependsOn": [one.purl for one in listed]}],
    }


def _component(part: Part) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
    }
    if part.licence:
        words = OPERATORS.sub(" ", part.licence).split()
        spdx = bool(words) and " and " not in part.licence and all(SPDX_ID.fullmatch(one) for one in words)
        single = len(words) == 1 or OPERATORS.search(part.licence)
        found["licenses"] = [{"expression": part.licence}] if spdx and single else [{"license": {"name": part.licence}}]
    return found


def problems(document: Mapping[str, Any]) -> list[str]:
    """What is against CycloneDX 1.5's schema in the fields that we write; empty when nothing is."""
    wrong: list[str] = []
    if document.get("bomFormat") != "CycloneDX" or document.get("specVersion") != "1.5":
        wrong.append("bomFormat or specVersion")
    if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(document.get("serialNumber"))):
        wrong.append("serialNumber")
    if not isinstance(document.get("version"), int):
        wrong.append("version")
    refs = [str(one.get("bom-ref")) for one in document.get("components", [])]
    if len(set(refs)) != len(refs):
        wrong.append("bom-ref is not unique: " + ", ".join(sorted({one for one in refs if refs.count(one) > 1})))
    for one in document.get("components", []):
        if one.get("type") != "library" or not one.get("name") or not one.get("version"):
            wrong.append(f"component {one.get('name')}")
        if not str(one.get("purl", "")).startswith("pkg:"):
            wrong.append(f"purl of {one.get('name')}")
        for licence in one.get("licenses", []):
            if set(licence) not in ({"expression"}, {"license"}):
                wrong.append(f"licenses of {one.get('name')}")
    for edge in document.get("dependencies", []):
        wrong += [f"dependency on {ref}" for ref in edge.get("dependsOn", []) if ref not in refs]
    return wrong


def write_sbom(path: Path, document: Mapping[str, Any]) -> None:
    """Raises ValueError where the document is not as the format wants it."""
    found = problems(document)
    if found:
        raise ValueError(f"{path} would be no CycloneDX 1.5: {'; '.join(found)}")
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
