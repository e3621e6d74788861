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


def found(path: str, old: str, new: str) -> list[model.Change]:
    return changes(path, old, new, lambda name: {"more.conf": "MailProg=/opt/mail\n"}.get(name, ""), {})


def test_a_script_of_the_site_is_in_the_new_file_or_lost() -> None:
    assert [it.group for it in found("/etc/slurm/job_submit.lua", "one\n", "ours\none\n")] == [model.KEPT]
    (lost,) = found("/etc/slurm/job_submit.lua", "one\n", "ours\n")
    assert (lost.group, lost.keep) == (model.DROPPED, ("job_submit", "script"))


def test_nodes_know_the_names_of_all_files_that_only_controllers_compare() -> None:
    assert {*TABLES, *files._DERIVED} == environment.CONFIGURATIONS


def test_gpus_follow_from_the_intent_and_other_resources_are_lost() -> None:
    old = "Name=gpu File=/dev/nvidia0\nNodeName=gpu01 Name=fpga File=/dev/fpga0\n"
    assert [it.group for it in found("/etc/slurm/gres.conf", old, "")] == [model.OURS, model.DROPPED]


def test_what_has_no_key_says_why() -> None:
    lost = found("/etc/slurm/slurm.conf", "DownNodes=gpu01 State=DOWN\nNodeSet=a Feature=b\n", "")
    assert [(it.group, bool(it.note)) for it in lost] == [(model.DROPPED, True), (model.OURS, True)]
