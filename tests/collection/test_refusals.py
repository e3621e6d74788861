# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusals from end to end: what a person sees of site.yml, and that no host was contacted.

The table of broken inventories is tests/unit/module_utils/site/refused.yml; one of each domain goes the whole way here.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.collection.installed import ROOT, Completed, bare_environment, run
from tests.collection.recorder import Recorder
from tests.conformance.tree import ROLES
from tests.unit.module_utils.site.test_refused import CASES, parts, patched

END_TO_END = (
    "notifications_in_the_lossless_class",
    "class_not_described",
    "partition_with_a_stranger",
    "two_file_systems_at_one_place",
    "infra_node_in_a_gated_partition",
)


def play(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> Completed:
    """Run a playbook, the whole site's if no other is named or given as a path, against stand-ins."""
    environment = bare_environment(tmp_path / "home") | recorder.environment
    environment |= {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "LAB_STATE": str(tmp_path / "lab")}
    path = playbook if playbook.endswith(".yml") else f"playbooks/{playbook}.yml"
    argv = ["ansible-playbook", "-i", "inventories/lab", path, *arguments]
    return run(argv, ROOT, environment)


def refuse(recorder: Recorder, tmp_path: Path, *arguments: str, playbook: str = "site") -> str:
    """Run a playbook, which must be refused and connect to no host; return its output."""
    done = play(recorder, tmp_path, *arguments, playbook=playbook)
    assert recorder.asked == []
    assert done.code == 2, done.text
    return done.out


def variables(values: dict[str, Any]) -> tuple[str, str]:
    return ("-e", json.dumps(values))


def test_a_fault_in_each_domain_is_reported_at_once(recorder: Recorder, tmp_path: Path) -> None:
    broken = [case for case in CASES if case["id"] in END_TO_END]
    assert len(broken) == len(END_TO_END)
    patch = {key: value for case in broken for key, value in case["patch"].items()}
    output = refuse(recorder, tmp_path, *variables(patched(patch)))
    told = [piece for line in output.splitlines() for piece in re.split(r"\s{2,}", line.strip())]
    for case in broken:
        key, *expected = parts(case["fault"])
        # ansible-core before 2.19 may fold the task's result; the report at the end is never folded
        sentence = max((line for line in told if line.startswith(f"{key} is ")), key=len)
        assert all(part in sentence for part in expected)


def test_a_broken_intent_is_refused_under_a_limit_as_well(recorder: Recorder, tmp_path: Path) -> None:
    """By the first host that is left, whichever it is."""
    broken = patched({"drawbridge_fabric.dscp": 99})
    output = refuse(recorder, tmp_path, "--limit", "leaf2", *variables(broken), playbook="fabric")
    assert "refused: 1 fault" in output, "whoever uses it notices as well, but the check comes first"
    assert "drawbridge_fabric.dscp is 99, but" in output
    assert "(-e)" in output


def test_a_fault_ends_with_the_file_and_line_that_set_it(recorder: Recorder, tmp_path: Path) -> None:
    """Of two inventories the later one wins, and its file is named."""
    path = tmp_path / "site/group_vars/all/fabric.yml"
    path.parent.mkdir(parents=True)
    (tmp_path / "site/hosts.yml").write_text("all: {}\n")
    fabric = patched({"drawbridge_fabric.dscp": 99})["drawbridge_fabric"]
    path.write_text(yaml.safe_dump({"drawbridge_fabric": fabric}, sort_keys=False))
    line = path.read_text().splitlines().index("  dscp: 99") + 1
    output = refuse(recorder, tmp_path, "-i", str(tmp_path / "site"), playbook="fabric")
    assert f"({path}:{line})" in output, "the report at the end folds no line"


def test_intent_in_another_place_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    """Everywhere that Ansible reads variables: beside the inventory, in it, and beside playbooks."""
    inventory, playbooks, own = (tmp_path / name for name in ("inventory", "playbooks", "own"))
    shutil.copytree(ROOT / "playbooks", playbooks)
    files = {
        inventory / "host_vars/gpu01.yml": "drawbridge_gpfs: {}\n",
        inventory / "more.yml": "gpu:\n  vars: {drawbridge_kube: {}}\n",
        playbooks / "group_vars/all.yml": "drawbridge_slurm: {}\n",
        own / "group_vars/gpu/x.yml": "drawbridge_nodes: {}\n",
        own / "site.yml": f"- import_playbook: {playbooks}/site.yml\n",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    output = refuse(recorder, tmp_path, "-i", str(inventory), playbook=str(own / "site.yml"))
    for sentence in (
        'drawbridge_gpfs is "host_vars/gpu01.yml", but the intent is the same for every host',
        'drawbridge_kube is "inventory entry gpu", but',
        'drawbridge_slurm is "playbooks/group_vars/all.yml", but',
        'drawbridge_nodes is "own/group_vars/gpu/x.yml", but',
    ):
        assert sentence in output


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """An inventory beside the lab's that sets variables of roles for groups and hosts, most of them wrong."""
    files = {
        "group_vars/nodes.yml": (
            'kube_node_timeout_s: "{{ patience }}"\nkube_node_kubelet_flags: ["{{ known_later }}"]\n'
            'gpfs_client_mm_path: "{{ known_later }}"\n'
        ),
        # right for nodes, whose role it is, and only for them
        "group_vars/all/roles.yml": (
            "slurm_gate_stuck: 60\nslurm_gate_stuck_s: 60\n"
            "fabric_nic_may_flap_links: \"{{ 'nodes' in group_names or 'nowhere' }}\"\n"
        ),
        "host_vars/gpu02.yml": "fabric_nic_may_flap_links: perhaps\n",
        "hosts.yml": (
            "gpu: {hosts: {gpu01: {patience: soon}, gpu02: {patience: 60}}}\n"
            "login: {hosts: {login1: {drawbridge_run_views: {}}}}\n"
        ),
    }
    for name, content in files.items():
        (tmp_path / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / name).write_text(content)
    return tmp_path / "site"


def test_role_variables_are_refused_wherever_they_are_set(recorder: Recorder, tmp_path: Path, settings: Path) -> None:
    """For all roles and hosts at once, whichever of them the playbook and --limit are about."""
    words = ("-i", str(settings), "--limit", "leaf1", *variables({"kube_node_state": "gone", "patient": "x"}))
    output = refuse(recorder, tmp_path, *words, playbook="fabric")
    told = output.partition("\nRefused: ")[2]
    assert re.findall(r"  (\w+ \(.*?\)) is ", told) == [
        "kube_node_state (--extra-vars)",
        "slurm_gate_stuck (group_vars/all/roles.yml)",
        "kube_node_timeout_s (group_vars/nodes.yml)",
        "fabric_nic_may_flap_links (host_vars/gpu02.yml)",
        "drawbridge_run_views (inventory entry login1)",
    ]
    for sentence in (
        'is "gone", but value of kube_node_state must be one of: present, absent, got: gone; write one of present',
        "write slurm_gate_stuck_s, or rename your own variable",
        'kube_node_timeout_s (group_vars/nodes.yml) is "soon", but',
        "write drawbridge_run_view, or rename your own variable",
    ):
        assert sentence in output


def test_variables_of_a_playbook_that_imports_ours_are_refused(recorder: Recorder, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text(f"- import_playbook: {ROOT}/playbooks/nic.yml\n  vars: {{fabric_nic_may_flap_links: perhaps}}\n")
    output = refuse(recorder, tmp_path, playbook=str(own))
    assert 'fabric_nic_may_flap_links (vars of the playbook) is "perhaps", but' in output


def test_every_role_by_itself_is_validated_by_ansible(recorder: Recorder, tmp_path: Path) -> None:
    """Our playbooks leave that out, since the check of the whole inventory comes first."""
    names = [role.name for role in ROLES]
    listed = tmp_path / "listed.yml"
    listed.write_text(json.dumps([{"hosts": "gpu01", "roles": [f"drawbridge.drawbridge.{name}" for name in names]}]))
    done = play(recorder, tmp_path, "--list-tasks", playbook=str(listed))
    assert re.findall(r"(\w+) : Validating arguments against arg spec 'main'", done.out) == names


def test_a_role_by_itself_refuses_what_it_does_not_take(recorder: Recorder, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    alone = {"hosts": "gpu01", "gather_facts": False, "roles": ["drawbridge.drawbridge.fabric_nic"]}
    own.write_text(json.dumps([{**alone, "vars": {"fabric_nic_may_flap_links": "perhaps"}}]))
    assert "Validation of arguments failed" in refuse(recorder, tmp_path, playbook=str(own))


@pytest.mark.parametrize(("playbook", "limit", "way"), [("slurm", "ctl", "ssh"), ("fabric", "leaf1", "netmiko")])
def test_the_stand_ins_see_an_accepted_site(
    recorder: Recorder, tmp_path: Path, playbook: str, limit: str, way: str
) -> None:
    """An empty record is worth something only while the stand-ins stand where hosts are contacted."""
    key = tmp_path / "key"
    key.touch()
    words = ("--limit", limit, *variables({"ansible_ssh_private_key_file": str(key)}))
    done = play(recorder, tmp_path, *words, playbook=playbook)
    assert {line.split()[0] for line in recorder.asked} == {way}, done.text
