# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every play of a role's README, run with --check from the installed collection, with hosts that do not answer.

The role's variables are checked against its argument specification, every task gets its arguments from them, and what
runs in Ansible's own process checks these. What a task does on a host or in Kubernetes, molecule/ shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.collection.installed import Site, run
from tests.collection.recorder import Recorder
from tests.conformance.test_roles import calls
from tests.conformance.tree import ROLES, examples

GROUPS = {"nodes": "gpu01", "login": "login1", "switches": "leaf1", "controllers": "ctl", "storage_admins": "nsd1"}
ADDRESS = "192.0.2.21"
KUBECONFIG = re.compile(r"kubeconfig '.*/\.kube/config' is no file|Could not find or access '~/\.kube/config'")
UNREACHED = re.compile(r"Preflight: not sound\..*\bunreachable\b", re.DOTALL)
SWITCH = re.compile(r"leaf1 .* can't be reached by SSH: nothing is there")
PLAYS = {f"{role.name}-{at}": play for role in ROLES for at, play in enumerate(examples(role))}
INTENT = "cluster_intent-0"


@pytest.fixture
def play(site: Site, recorder: Recorder, tmp_path: Path) -> Any:
    """Run one play with an inventory, by default one with a host for each group; its tasks by name."""

    def made(content: dict[str, Any], inventory: Path | None = None) -> dict[str, dict[str, Any]]:
        groups = {name: {"hosts": {host: {"ansible_host": ADDRESS}}} for name, host in GROUPS.items()}
        (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": groups}}))
        (tmp_path / "example.yml").write_text(yaml.safe_dump([{**content, "ignore_unreachable": True}]))
        sources = [str(inventory or tmp_path / "hosts.yml"), str(tmp_path / "example.yml")]
        environment = site.environment | recorder.environment | {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
        done = run(["ansible-playbook", "--check", "-i", *sources], site.cwd, environment)
        assert done.code in (0, 2), done.text
        [told] = json.loads(done.out)["plays"]
        return {task["task"]["name"]: result for task in told["tasks"] for result in task["hosts"].values()}

    return made


def ends(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Why tasks ended that did not succeed."""
    for name, result in results.items():
        for item in result.get("results", [result]):
            if item.get("unreachable"):
                yield "unreachable"
            elif item.get("failed") or result.get("failed"):
                yield f"{name}: {item['msg']}"


@pytest.mark.parametrize("name", sorted(set(PLAYS) - {INTENT}))
def test_an_example_goes_as_far_as_its_hosts(play: Any, name: str) -> None:
    results = play(PLAYS[name])
    checked = [task for task in results if "Validating arguments against arg spec" in task]
    assert len(checked) == len(list(calls(PLAYS[name])))
    found = list(ends(results))
    assert found, "no host was asked for"
    known = (KUBECONFIG, SWITCH, UNREACHED)
    assert [end for end in found if end != "unreachable" and not any(it.search(end) for it in known)] == []


def test_the_example_of_the_intent_checks_a_whole_site(play: Any, site: Site, recorder: Recorder) -> None:
    [*_, result] = play(PLAYS[INTENT], site.installed / "inventories/lab").values()
    assert (result["changed"], result.get("failed", False), recorder.asked) == (False, False, []), result
