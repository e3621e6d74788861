# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prometheus' relabelling, as its documentation has it: what becomes of a target, and of a series."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Labels = dict[str, str]


def relabelled(rules: Iterable[Mapping[str, Any]], labels: Mapping[str, str]) -> Labels | None:
    """The labels after all rules; None for a series that one drops."""
    found: Labels = dict(labels)
    for rule in rules:
        action, regex = rule.get("action", "replace"), rule.get("regex", "(.*)")
        if action == "labeldrop":
            found = {name: value for name, value in found.items() if not re.fullmatch(regex, name)}
            continue
        match = re.fullmatch(regex, ";".join(found.get(name, "") for name in rule["source_labels"]))
        if action == "replace" and match:
            value = match.expand(re.sub(r"\$(\d)", r"\\\1", rule.get("replacement", "$1")))
            found = {**found, rule["target_label"]: value}
        elif (action == "keep" and not match) or (action == "drop" and match):
            return None
    return found
