# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whom onboarding picks, what it refuses, and that a failing controller ends it. molecule/default onboards for real.

Whom retire.yml picks, too; test_options.py has what that refuses.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.collection.installed import Completed
from tests.collection.recorder import Recorder
from tests.growth import grow

from .test_refusals import play, refuse

OLD = {"gpu01", "gpu02", "gpu03", "gpu04"}
CLUSTER = {"ctl", "login1", "nsd1", "infra1", "leaf1", "leaf2", "spine1"}


@pytest.fixture
def more(tmp_path: Path) -> list[str]:
    """Arguments for an inventory with four nodes more."""
    return grow(tmp_path / "more", "gpu05", "gpu06", "gpu07", "gpu08")


def picked(done: Completed) -> dict[str, set[str]]:
    """Hosts by play, as --list-hosts prints them. Plays of one name count as one."""
    assert done.code == 0, done.text
    plays: dict[str, set[str]] = {}
    name = ""
    for line in done.out.splitlines():
        if head := re.match(r"  play #\d+ \(.*\): (.*)\tTAGS", line):
            name = head.group(1)
            plays.setdefault(name, set())
        elif host := re.match(r"      (\S+)$", line):
            plays[name].add(host.group(1))
    return plays


def test_a_limit_that_leaves_out_what_the_nodes_need_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    output = refuse(recorder, tmp_path, "-e", "onboard_nodes=gpu01", "--limit", "gpu01", playbook="onboard")
    assert "but it leaves out ctl,nsd1,leaf1, which the chosen nodes need" in output


def test_the_names_are_hosts_and_no_members_of_a_group(recorder: Recorder, tmp_path: Path, more: list[str]) -> None:
    """In the group gpu, which has eight hosts, the pattern gpu[05-06] would be gpu06 and gpu07."""
    done = play(recorder, tmp_path, *more, "-e", "onboard_nodes=gpu[05-06]", "--list-hosts", playbook="onboard")
    assert picked(done) == {
        "Check the intent": OLD | CLUSTER | {"localhost", "gpu05", "gpu06", "gpu07", "gpu08"},
        "Check the run's rights in Kubernetes": {"ctl"},  # read by Ansible's own machine
        "Add the nodes to the controllers": {"ctl"},
        "Make the gate's identities in Kubernetes": {"ctl"},
        "Put the gate on the controllers": {"ctl"},
        "Decide about findings on Slurm's controller": {"ctl"},
        "Find the nodes that the Storage Scale cluster lacks": {"nsd1"},
        "Prepare nodes that join or rejoin": set(),  # known only in a run
        "Join all nodes to the Storage Scale cluster": {"nsd1"},
        "Carry GPU traffic in the lossless class on the switches": set(),  # known only in a run
        "Change switches whose traffic may be interrupted": set(),  # known only in a run
        "Build the nodes, wave by wave": {"gpu05", "gpu06"},
    }


def test_a_controller_that_fails_ends_the_run(recorder: Recorder, tmp_path: Path, more: list[str]) -> None:
    key = tmp_path / "key"
    key.touch()
    words = (*more, "-e", "onboard_nodes=gpu[05-06]", "-e", f"ansible_ssh_private_key_file={key}")
    # no API server stands here for the check of the run's rights
    words += ("--start-at-task", "drawbridge.drawbridge.slurm_controller : Install the controller's packages")
    done = play(recorder, tmp_path, *words, playbook="onboard")
    assert done.code == 4, done.text
    assert {re.sub(r".* (\S+) /bin/sh .*", r"\1", line) for line in recorder.asked} == {"10.77.1.11"}


def test_the_whole_site_takes_new_nodes_as_any_others(recorder: Recorder, tmp_path: Path, more: list[str]) -> None:
    plays = picked(play(recorder, tmp_path, *more, "--list-hosts"))
    assert plays["Bring nodes to their intended state"] == OLD | {"gpu05", "gpu06", "gpu07", "gpu08"}
    assert set.union(*plays.values()) == OLD | CLUSTER | {"localhost", "gpu05", "gpu06", "gpu07", "gpu08"}


def test_of_a_retirement_only_the_controller_is_known_before_the_run(recorder: Recorder, tmp_path: Path) -> None:
    """Which nodes are empty, and which left, is known only in a run."""
    plays = picked(play(recorder, tmp_path, "-e", "retire_nodes=gpu03", "--list-hosts", playbook="retire"))
    assert plays["Drain the nodes and wait for their jobs"] == {"ctl"}
    assert plays["Take the empty nodes down"] == plays["Delete the nodes from the Storage Scale cluster"] == set()
