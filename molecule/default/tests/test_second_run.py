# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A second run reads. Nothing is written but what running daemons and Ansible itself keep writing."""

from __future__ import annotations

import re

from .conftest import SecondRun

# Places that a site's daemons write to by themselves, and Ansible's own temporary files. Configuration, units and
# binaries are in none of them: Drawbridge's files below such a place are named, and not let through.
RUNNING = re.compile(
    r"^(ctl|login1|nsd1|infra1|gpu0\d)/("
    r"var/log/.*"
    r"|(root|tmp|var/tmp)/\.ansible.*"
    r"|var/lib/(mysql|lab-etcd|containerd|systemd|private)/.*"
    r"|var/lib/kubelet/(?!config\.yaml$).*"
    r"|var/spool/slurm(ctld|d)/.*"
    r"|var/lib/drawbridge/gate/(?!lock$).*"
    r")$"
)


def test_second_run_changes_nothing(second_run: SecondRun) -> None:
    assert second_run.run.changed() == [], second_run.run.steps()
    assert [path for path in second_run.touched if not RUNNING.match(path)] == []
    calls = [call for noted in second_run.calls.values() for call in noted]
    assert [call for call in calls if call.get("writes")] == []
    assert calls, "the journals saw nothing at all, so they prove nothing"
