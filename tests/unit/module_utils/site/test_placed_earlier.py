# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What roles place today was placed by releases without a record, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.text import record
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.placed_earlier import EARLIER

ROLES = Path(__file__).resolve().parents[4] / "roles"
WITH_FILES = [role for role in EARLIER if (ROLES / role / "vars").exists() and role != "slurm_node"]


def paths(value: Any) -> Iterator[str]:
    """All paths of files in a role's variables; those without a text are folders."""
    if isinstance(value, dict) and "path" in value:
        if {"source", "content"} & value.keys():
            yield value["path"]
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from paths(each)


@pytest.mark.parametrize("role", WITH_FILES)
def test_each_file_of_a_role_is_listed(role: str) -> None:
    variables = yaml.safe_load((ROLES / role / "vars/main.yml").read_text())
    found = [*paths(variables)]
    assert found and set(found) <= {item.path for item in EARLIER[role]}


def test_the_table_is_a_record() -> None:
    assert record({role: [list(item) for item in items] for role, items in EARLIER.items()}).keys() == EARLIER.keys()
