# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node leaves the cluster by storage_leave.yml, alive and dead. The tests build on each other in their order."""

from __future__ import annotations

import json

from lab.hosts.paths import Paths
from tests.running import Lab, Run
from tests.stack import lab, ssh, until

NODE, MM = "gpu02", "/usr/lpp/mmfs/bin"
JOURNAL = "/var/lib/lab/gpfs/journal.jsonl"


def leave(*words: str) -> Run:
    return Lab(Paths.of()).playbook("storage_leave", "--extra-vars", f"storage_leave_nodes={NODE}", *words)


def join() -> Run:
    return Lab(Paths.of()).playbook("../molecule/gpfs_client/converge")


def failure(done: Run) -> str:
    assert done.code != 0, done.output
    return "".join(result["msg"] for _, _, result in done.results() if result.get("failed"))


def listed() -> bool:
    return f":{NODE}:" in ssh("nsd1", f"{MM}/mmlscluster -Y")


def mounted() -> bool:
    return " /gpfs/fs1 " in ssh(NODE, "cat /proc/self/mountinfo")


def deletions() -> int:
    return [json.loads(line)["tool"] for line in ssh("nsd1", f"cat {JOURNAL}").splitlines()].count("mmdelnode")


def test_a_node_whose_kubelet_runs_does_not_leave() -> None:
    ssh(NODE, "systemd-run --quiet --unit=kubelet sleep infinity")
    try:
        assert "the kubelet runs, so pods may use the file systems" in failure(leave())
    finally:
        ssh(NODE, "systemctl stop kubelet")
    assert listed() and mounted() and deletions() == 0


def test_a_process_in_a_mount_keeps_the_node() -> None:
    ssh(NODE, "systemd-run --quiet --unit=reader --working-directory=/gpfs/fs1 sleep infinity")
    try:
        assert "/gpfs/fs1" in failure(leave())
    finally:
        ssh(NODE, "systemctl stop reader")
    assert listed() and mounted() and deletions() == 0


def test_it_leaves_as_predicted_and_a_second_run_only_reads() -> None:
    predicted = leave("--check")
    assert predicted.code == 0, predicted.output
    assert listed() and mounted()
    done = leave()
    assert done.code == 0, done.output
    assert not listed() and not mounted() and deletions() == 1
    assert ssh(NODE, f"{MM}/mmlscluster -Y || true") == ""
    again = leave()
    assert (again.code, again.changed(), deletions()) == (0, [], 1), again.output


def test_it_joins_again() -> None:
    done = join()
    assert done.code == 0, done.output
    assert listed() and mounted()


def test_a_dead_node_leaves_by_a_consent_that_names_it() -> None:
    lab("power-cut", NODE)
    try:
        dead = json.dumps({"gpfs_client_dead": ["gpu01"]})
        until(lambda: f":{NODE}:" in ssh("nsd1", f"{MM}/mmgetstate -a -Y"), 60, "the cluster still lists it")
        refused = leave("--extra-vars", dead)
        assert refused.code != 0 and listed(), refused.output
        done = leave("--extra-vars", json.dumps({"gpfs_client_dead": [NODE]}))
        assert done.code == 0, done.output
        assert not listed()
    finally:
        lab("up", NODE)


def test_the_dead_node_returns_as_a_new_one() -> None:
    done = join()
    assert done.code == 0, done.output
    assert listed() and mounted()
