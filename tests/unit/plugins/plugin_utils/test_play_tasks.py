# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Variables of a host that a visit evaluates once. tests/collection/test_node_visit.py runs whole plays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.play_tasks import Settled, arguments
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import TRUSTED

VARIABLES: dict[str, Any] = {
    "groups": {"all": ["gpu01"]},
    "ansible_play_hosts": ["gpu01"],
    "own": {"groups": "of NICs"},
    "port": 6443,
}


def task(when: Any = (), **args: Any) -> Any:
    made = MagicMock(args=args, when=when, loop=None)
    made.get_vars.return_value = {}
    return made


@pytest.fixture
def settled() -> Settled:
    return Settled(DataLoader())


def test_lists_of_all_hosts_are_not_searched_for_templates(settled: Settled) -> None:
    """They grow with the site, and an option of a task may have their name."""
    found = settled.values(task(groups="own", hosts="ansible_play_hosts"), VARIABLES)
    assert found == {"own": {"groups": "of NICs"}}


def test_a_variable_is_evaluated_once(settled: Settled) -> None:
    first = settled.values(task(text="own"), VARIABLES)
    assert settled.values(task(text="own"), VARIABLES)["own"] is first["own"]


def test_another_value_is_evaluated_anew(settled: Settled) -> None:
    settled.values(task(text="own"), VARIABLES)
    assert settled.values(task(text="own"), {**VARIABLES, "own": ["new"]}) == {"own": ["new"]}


@pytest.mark.parametrize(
    ("when", "runs"), [([], True), (["port == 6443"], True), (["port == 6443", "port is not defined"], False)]
)
def test_a_task_runs_if_all_its_conditions_are_true(
    settled: Settled, tmp_path: Path, when: list[str], runs: bool
) -> None:
    file = tmp_path / "when.json"  # conditions of the site's own files are trusted
    file.write_text(json.dumps(when))
    conditions = DataLoader().load_from_file(str(file), **TRUSTED)
    assert settled.runs(task(conditions), VARIABLES) is runs


def test_plain_arguments_keep_their_values() -> None:
    args = {"number": 1, "on": True, "names": ["a", {"b": None}]}
    assert arguments(task(**args), {}, DataLoader()) == args
