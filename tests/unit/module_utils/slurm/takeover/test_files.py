# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import (
    environment,
    files,
    model,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.files import (
    changes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.settings import TABLES


def found(path: str, old: str, new: str, live: str = "") -> list[model.Change]:
    return changes(path, old, new, lambda name: {"more.conf": "MailProg=/opt/mail\n"}.get(name, ""), {}, live)


def test_a_script_of_the_site_is_in_the_new_file_or_lost() -> None:
    assert [it.group for it in found("/etc/slurm/job_submit.lua", "one\n", "ours\none\n")] == [model.KEPT]
    (lost,) = found("/etc/slurm/job_submit.lua", "one\n", "ours\n")
    assert (lost.group, lost.keep) == (model.DROPPED, ("job_submit", "script"))


def test_nodes_know_the_names_of_all_files_that_only_controllers_compare() -> None:
    assert {*TABLES, "gres.conf", "topology.conf", files.TOPOLOGY} == environment.CONFIGURATIONS


def test_what_has_no_key_says_why() -> None:
    old = "DownNodes=gpu01 State=DOWN\nNodeSet=a Feature=b\nPowerAction=off Program=/opt/off\n"
    lost = found("/etc/slurm/slurm.conf", old, "")
    assert [(it.group, bool(it.note)) for it in lost] == [
        (model.DROPPED, True),
        (model.OURS, True),
        (model.DROPPED, True),
    ]


def test_a_topology_that_slurm_does_not_read_is_no_loss() -> None:
    for plugin, group in (("topology/flat", model.OURS), ("topology/tree", model.DROPPED)):
        live = f"TopologyPlugin={plugin}\n"
        assert {it.group for it in found("/etc/slurm/topology.conf", "SwitchName=s Nodes=a[1-2]\n", "", live)} == {
            group
        }


def test_a_topology_of_yaml_is_compared_with_the_file_that_it_would_override() -> None:
    new = "SwitchName=leaf1 Nodes=a[1-2]\n"
    old = "- topology: t\n  tree:\n    switches:\n      - {switch: leaf1, nodes: 'a[1-2]'}\n"
    assert [it.group for it in found("/etc/slurm/topology.yaml", old, new)] == [model.KEPT]
    (lost,) = found("/etc/slurm/topology.yaml", f"{old}- topology: u\n  flat: true\n", new)
    assert lost.group == model.DROPPED and "several topologies" in lost.note
