# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What releases of Kubernetes publish of pods and Jobs, as schemas like those of an API server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("published.txt")
RELEASES = ("1.34", "1.35", "1.36", "1.37")
SPECS = {"Pod": {"$ref": "PodSpec"}, "Job": {"$ref": "JobSpec"}}
FIELD = re.compile(r"(\w+)([*%]?)(?:=(\w+))?(?:@([0-9.]+?)(?:[+]|[.][.]([0-9.]+)))?")

Json = dict[str, Any]


def schemas(release: str) -> Json:
    """All types of a release by their name."""
    lines = [line for line in RECORD.read_text().splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\n  ", " ").splitlines()
    return {name: _type(words.split(), release) for name, _sep, words in (line.partition(":") for line in whole)}


def _type(words: list[str], release: str) -> Json:
    found = [FIELD.fullmatch(word) for word in words]
    there = [it for it in found if it and (it[4] or "") <= release <= (it[5] or RELEASES[-1])]
    assert all(found), f"not a field: {words}"
    return {"properties": {it[1]: _field(it[2], it[3]) for it in there}}


def _field(how: str, of: str | None) -> Json:
    inner: Json = {"$ref": of} if of else {"type": "string"}
    return {"*": {"items": inner}, "%": {"additionalProperties": inner}}.get(how, inner)
