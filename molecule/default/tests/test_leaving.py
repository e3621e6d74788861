# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NICs leave the intent and come back: no file of theirs stays, and the node is what it was."""

from __future__ import annotations

import copy
import json
import shlex
from pathlib import Path

import pytest

from tests.unit.module_utils.site.test_refused import site

from .conftest import Lab

RECORD = "/var/lib/drawbridge/placed.json"
NODE, UNIT = "gpu01", "drawbridge-nic.service"


@pytest.fixture
def without_nics(tmp_path: Path) -> tuple[str, str]:
    """Words for a run whose node classes have no NICs."""
    nodes = copy.deepcopy(site("lab")["drawbridge_nodes"])
    for build in nodes["classes"].values():
        del build["nics"]
    for part in nodes["ranges"]:
        del part["leaves"]
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps({"drawbridge_nodes": nodes}))
    return "-e", f"@{file}"


def placed(lab: Lab, role: str) -> list[list[str]]:
    """What a role placed on the node, by the record there."""
    return json.loads(lab.ssh(NODE, f"cat {RECORD}")).get(role, [])


def there(lab: Lab, items: list[list[str]], node: str = NODE) -> list[str]:
    """The paths that exist; of a file of the site, if it has a block of Drawbridge."""
    words = {
        "file": "test -e {0} && echo {0}",
        "tree": "test -d {0} && echo {0}",
        "block": "grep -qs 'BEGIN drawbridge' {0} && echo {0}",
    }
    script = "; ".join(words[kind].format(shlex.quote(path)) for kind, path in items)
    return lab.ssh(node, f"{script}; true").split()


def wants(lab: Lab) -> list[str]:
    return lab.ssh(NODE, "systemctl show --property Wants --value slurmd").split()


def test_nics_leave_nothing_and_come_back(lab: Lab, without_nics: tuple[str, str]) -> None:
    before = placed(lab, "fabric_nic")
    assert len(there(lab, before)) == len(before) > 10
    assert UNIT in wants(lab)

    predicted = lab.playbook("nic", *without_nics, "--limit", NODE, "--check")
    assert (predicted.code, len(there(lab, before))) == (0, len(before)), predicted.output
    left = lab.playbook("nic", *without_nics, "--limit", NODE)
    assert left.code == 0, left.output
    assert left.steps() == predicted.steps()
    assert there(lab, before) == placed(lab, "fabric_nic") == []
    assert UNIT not in wants(lab)
    assert lab.ssh(NODE, f"systemctl show --property LoadState --value {UNIT}").strip() == "not-found"
    again = lab.playbook("nic", *without_nics, "--limit", NODE)
    assert (again.code, again.changed()) == (0, []), again.output

    back = lab.playbook("nic", "--limit", NODE)
    assert back.code == 0, back.output
    assert placed(lab, "fabric_nic") == before
    assert len(there(lab, before)) == len(before)
    assert UNIT in wants(lab)
