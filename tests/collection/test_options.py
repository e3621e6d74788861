# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options from end to end: wrong names are refused before a host is contacted, and a site's own names do nothing.

mistakes.yml has more of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.collection.recorder import Recorder

from .test_onboard import picked
from .test_refusals import play, refuse, variables

OLD = {
    **{"nodes": "gpu01", "maintenance": "kernel", "what": "reboot", "wave": 1, "packages": ["kernel"], "boot": False},
    **{"reserve": True, "max_fail": 9, "node_layers": "slurm_node"},
}


def refused(output: str) -> list[str]:
    """The sentences about the inventory, from the report at the end, which never folds them."""
    lines = output.partition("\nRefused: ")[2].splitlines()
    return [line.rpartition("  ")[2] for line in lines if " is " in line]


def test_all_old_names_are_refused_at_once(recorder: Recorder, tmp_path: Path) -> None:
    said = refused(refuse(recorder, tmp_path, *variables(OLD), playbook="rolling"))
    assert [sentence.partition(" ")[0] for sentence in said] == [
        *("nodes", "maintenance", "what", "packages", "boot", "wave", "reserve", "max_fail", "node_layers"),
    ]
    assert 'what (--extra-vars) is "reboot", but what is now rolling_what; write -e rolling_what=reboot' in said


def test_an_old_name_in_the_import_of_a_sites_own_playbook_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    folder = Path(__file__).resolve().parents[2] / "playbooks"
    own.write_text(f"- import_playbook: {folder}/retire.yml\n  vars: {{retire_nodes: gpu01, dead_nodes: gpu01}}\n")
    output = refuse(recorder, tmp_path, playbook=str(own))
    assert "but dead_nodes is now retire_dead_nodes" in "\n".join(refused(output))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """An inventory beside the lab's in which the site uses all old names for itself."""
    path = tmp_path / "site/group_vars/all/own.yml"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**OLD, "nodes": "gpu09"}))
    (tmp_path / "site/hosts.yml").write_text("all: {}\n")
    return path.parents[2]


def test_a_sites_own_names_are_accepted(recorder: Recorder, tmp_path: Path, own: Path) -> None:
    """With them the run gets as far as without: to the node that its option selects. It may go on to the admin host."""
    key = tmp_path / "key"
    key.touch()
    options = {"storage_leave_nodes": "gpu02", "ansible_ssh_private_key_file": str(key)}
    done = play(recorder, tmp_path, "-i", str(own), *variables(options), playbook="storage_leave")
    contacted = {re.sub(r".* (\S+) /bin/sh .*", r"\1", line) for line in recorder.asked}
    assert contacted - {"10.77.1.13"} == {"10.77.1.22"}, done.text


def test_rejoin_hands_its_options_to_onboard(recorder: Recorder, tmp_path: Path) -> None:
    options = {"rejoin_nodes": "gpu[01-02]", "rejoin_fingerprints": {}}
    rejoin = picked(play(recorder, tmp_path, "--list-hosts", *variables(options), playbook="rejoin"))
    assert rejoin["Trust the new host keys"] == rejoin["Build the nodes, wave by wave"] == {"gpu01", "gpu02"}
