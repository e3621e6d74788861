# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Roles come to hosts in the order in which their layers need each other, whichever playbook does the whole."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.clients import CLIENTS

from tests.conformance.tree import ROOT

CONTROLLER, CLUSTER, GATE = "slurm_controller", "slurm_gate/cluster", "slurm_gate"


NODE = ROOT / "playbooks/tasks/node.yml"


def listed(path: Path) -> list[dict[str, Any]]:
    """The tasks of a file and of those that it imports."""
    found: list[dict[str, Any]] = []
    for task in yaml.safe_load(path.read_text()):
        imported = task.get("ansible.builtin.import_tasks")
        found += listed(path.parent / imported) if imported else [task]
    return found


VISIT, *OF_VISIT = listed(NODE)
LEAVING = [task for task in OF_VISIT if "leaves" in task["tags"]]
LAYERS = [task for task in OF_VISIT if task not in LEAVING]


def plays(path: Path, layers: Any = None) -> list[dict[str, Any]]:
    """The plays of a playbook and of those that it imports; `layers` are those that it wants of a visit."""
    found: list[dict[str, Any]] = []
    for play in yaml.safe_load(path.read_text()):
        imported = play.get("ansible.builtin.import_playbook")
        found += plays(path.parent / imported, play.get("vars", {}).get("visit_layers")) if imported else [play]
    return [{**play, "layers": layers} for play in found] if layers else found


def tasks(play: dict[str, Any]) -> list[dict[str, Any]]:
    """A play's tasks; for a visit of nodes those of its layers that the play asks for."""
    if not any("ansible.builtin.import_tasks" in task for task in play.get("tasks", [])):
        return play.get("tasks", [])
    chosen = play.get("layers")
    return [task for task in LAYERS if not chosen or any(fnmatchcase(role(task), it) for it in chosen)]


def role_of(call: dict[str, Any]) -> str:
    return call["name"].rpartition(".")[2]


def role(task: dict[str, Any]) -> str:
    return role_of(task["ansible.builtin.import_role"])


def work(path: Path) -> list[tuple[str, str]]:
    """Who gets which role, in order; the names of groups stand for themselves, anything else is the chosen nodes."""
    found = []
    for play in plays(path):
        hosts = play["hosts"] if play["hosts"].isidentifier() else "nodes"
        for call in [
            task["ansible.builtin.import_role"] for task in tasks(play) if "ansible.builtin.import_role" in task
        ]:
            entry = call.get("tasks_from", "main")
            found.append((hosts, role_of(call) if entry == "main" else f"{role_of(call)}/{entry}"))
    return found


def test_the_nodes_layers_are_for_the_visit_alone() -> None:
    assert [task["tags"] for task in LAYERS] == [["never", "apart"]] * len(LAYERS)
    assert [task["tags"] for task in LEAVING] == [["never", "leaves"]] * len(LEAVING)


def test_a_role_leaves_where_it_does_not_come() -> None:
    """A node has a role or takes it away, by the same variable."""
    comes = {role(task): task["when"] for task in LAYERS if "when" in task}
    for task in LEAVING:
        word = comes[role(task)].split()[0]
        assert task["when"].endswith(f"not {word}"), task["name"]


def test_each_kind_of_file_systems_has_a_role_that_comes_and_leaves() -> None:
    """All leave before one is mounted, and no other file of the playbooks names them."""
    own = listed(NODE.parent / "filesystems.yml")
    roles = [f"{name}_client" for name in CLIENTS]
    assert [(role(task), task["tags"][1]) for task in own] == [
        *((name, "leaves") for name in roles),
        *((name, "apart") for name in roles),
    ]
    assert [task["when"].split(".")[-1] for task in own] == [*CLIENTS] * 2
    others = [call for call in map(role, OF_VISIT) if call.endswith("_client")]
    assert others == roles * 2


def test_slurmd_needs_all_layers_but_metrics() -> None:
    """A job that ends before its node has the gate's half leaves the node dirty until the next look."""
    visit = VISIT["drawbridge.drawbridge.node_visit"]
    *others, last, after = map(role, LAYERS)
    assert last == "slurm_node" and not any(fnmatchcase(last, pattern) for pattern in visit["needs"])
    assert after == "telemetry" and visit["needs"][after] == []
    assert all(any(fnmatchcase(name, pattern) for name in (*others, after)) for pattern in visit["needs"])
    assert all(any(fnmatchcase(name, pattern) for pattern in visit["needs"]) for name in others)


@pytest.mark.parametrize("name", ["site", "onboard"])
def test_slurmd_starts_when_everything_else_of_its_node_is_there(name: str) -> None:
    order = work(ROOT / f"playbooks/{name}.yml")
    slurmd = order.index(("nodes", "slurm_node"))
    before = [("controllers", CONTROLLER), ("controllers", CLUSTER), ("nodes", "kubelet_numa"), ("nodes", GATE)]
    assert [order.index(item) < slurmd for item in before] == [True] * len(before)
    assert order.index(("nodes", "gpfs_client")) < slurmd


def test_a_node_that_retires_keeps_nothing_of_any_role() -> None:
    *_, last = yaml.safe_load((NODE.parent / "retire_node.yml").read_text())
    assert last["drawbridge.drawbridge.placed_files"]["gone"] == ["*"]


def test_nothing_opens_before_every_nodes_half_is_there() -> None:
    order = work(ROOT / "playbooks/site.yml")
    assert order.index(("nodes", GATE)) < order.index(("controllers", GATE))
    assert order.index(("nodes", "slurm_node")) < order.index(("controllers", GATE))


@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").glob("*.yml")), ids=lambda path: path.name)
def test_every_playbook_checks_the_intent_first(path: Path) -> None:
    """What a rule refuses must reach no host, whichever playbook a person runs.

    plan.yml reaches none anyway. describe.yml only reads, and writes an intent where there is none.
    """
    first, check = plays(path)[0], plays(ROOT / "playbooks/check.yml")[0]
    if path.name == "plan.yml":
        imported = "ansible.builtin.import_role"
        assert first["tasks"][0][imported]["name"] in check["tasks"][0]
    elif path.name != "describe.yml":
        assert first == check


@pytest.mark.parametrize("name", ["site", "onboard"])
def test_no_nic_is_lossless_behind_a_switch_that_failed(name: str) -> None:
    """It would pause into the void."""
    switches = [
        play
        for play in plays(ROOT / f"playbooks/{name}.yml")
        for task in tasks(play)
        if task.get("ansible.builtin.import_role", {}).get("name") == "drawbridge.drawbridge.fabric_switch"
    ]
    quiet, seconds, interrupting = (play["any_errors_fatal"] for play in switches)
    assert (quiet, seconds, interrupting) == (True, True, True)
    order = work(ROOT / f"playbooks/{name}.yml")
    assert [role for _, role in order if role.startswith("fabric_")] == [
        *["fabric_switch"] * 3,
        "fabric_nic",
    ]


@pytest.mark.parametrize("name", ["slurm", "gate"])
def test_a_layer_alone_does_what_the_whole_site_does_of_it(name: str) -> None:
    own = work(ROOT / f"playbooks/{name}.yml")
    assert [item for item in work(ROOT / "playbooks/site.yml") if item in own] == own
