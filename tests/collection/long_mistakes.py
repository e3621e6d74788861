# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All mistakes end to end, at night: those of mistakes.yml, and the broken intents of refused.yml as inventories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.collection.recorder import Recorder
from tests.collection.test_mistakes import ROWS, START, check_end_to_end, started
from tests.unit.module_utils.site.test_refused import CASES, parts, patched


@pytest.mark.parametrize("name", sorted({*ROWS} - {*START}))
def test_a_mistake(recorder: Recorder, tmp_path: Path, name: str) -> None:
    check_end_to_end(ROWS[name], recorder, tmp_path)


def row(case: dict[str, Any]) -> dict[str, Any]:
    """A broken intent in place of the lab's, or an option that selects nodes of the lab's."""
    if "nodes" in case:
        return {"of": "lab", "run": f"-e '{json.dumps({'cluster_intent_nodes': case['nodes']})}'"}
    files = ("fabric", "kube", "nodes", "slurm", "storage")
    intent = yaml.safe_dump(patched(case["patch"]), allow_unicode=True, sort_keys=False)
    # a template that Ansible did not evaluate
    intent = intent.replace(": '{{", ": !unsafe '{{")
    return {
        "of": "lab",
        "do": {**{f"group_vars/all/{name}.yml": None for name in files}, "group_vars/all/x.yml": intent},
    }


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_broken_intent(recorder: Recorder, tmp_path: Path, case: dict[str, Any]) -> None:
    done = started(row(case), recorder, tmp_path)
    key, *expected = parts(case["fault"])
    told = [line.rpartition("  ")[2].strip() for line in done.out.partition("\nRefused: ")[2].splitlines()]
    assert (done.code, recorder.asked) == (2, []), done.text
    sentences = [parts(line)[1:] for line in told if line.startswith(f"{key} is ") and ", but " in line]
    found = [[part in whole for part, whole in zip(expected, said, strict=False)] for said in sentences]
    assert any(map(all, found)), done.text
