# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of policies, and changes by others. The rest is in test_mm_policy.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies.io import Policy
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies.plan import (
    Wanted,
    plan,
)

NONE = "No policy file was installed for file system 'fs1'.\n"
FS = (
    "mmlsfs::HEADER:version:reserved:reserved:deviceName:fieldName:data:remarks:\n"
    "mmlsfs::0:1:::fs1:storagePools:system;data::\n"
)
FILESETS = "mmlsfileset::HEADER:version:reserved:reserved:filesetName:\nmmlsfileset::0:1:::a:\n"
WANT = Wanted("fs1", {"a": "data"}, "data")


class Cluster:
    """Keeps a policy, and what became of each file."""

    def __init__(self) -> None:
        self.policy, self.asked, self.modes = NONE, list[list[str]](), list[str]()

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        verb = argv[0].rpartition("/")[2]
        if verb == "mmchpolicy":
            self.asked.append([*argv[1:2], *argv[3:]])
            self.modes.append(f"{Path(argv[2]).stat().st_mode & 0o777:o}")
            if "test" not in argv:
                self.policy = Path(argv[2]).read_text()
        answers = {"mmlspolicy": self.policy, "mmlsfs": FS, "mmlsfileset": FILESETS}
        return Completed(0, answers.get(verb, ""), "")


def test_a_policy_is_tested_and_installed_from_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    cluster = Cluster()
    policy = Policy(Mm(cluster, "/mm"), "fs1", tmp_path / "gpfs")
    steps = plan(policy.read(), WANT)
    policy.test(steps[0].payload)
    assert cluster.policy == NONE
    policy.apply(steps)
    assert plan(policy.read(), WANT) == []
    assert cluster.asked == [["fs1", "-I", "test"], ["fs1"]]
    assert cluster.modes == ["600", "600"] and list((tmp_path / "gpfs").iterdir()) == []


def test_a_policy_that_someone_else_has_just_changed_stays(tmp_path: Path) -> None:
    cluster = Cluster()
    policy = Policy(Mm(cluster, "/mm"), "fs1", tmp_path)
    steps = plan(policy.read(), WANT)
    cluster.policy = theirs = "RULE 'theirs' SET POOL 'data'\n"
    with pytest.raises(DeviceError, match="the policy of fs1 has changed since it was read; run again"):
        policy.apply(steps)
    assert cluster.policy == theirs


def test_filesets_that_are_missing() -> None:
    assert Policy(Mm(Cluster(), "/mm"), "fs1").missing(["a", "b"]) == ["b"]


def test_text_that_is_no_policy_is_refused() -> None:
    cluster = Cluster()
    cluster.policy = "mmlspolicy: GPFS is down on this node.\n"
    with pytest.raises(DeviceError, match="mmlspolicy fs1 -L: the text has no rule of a policy"):
        Policy(Mm(cluster, "/mm"), "fs1").read()
