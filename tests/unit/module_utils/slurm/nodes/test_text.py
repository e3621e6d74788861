# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.text import node

# slurm 24.11.5, captured
DRAINED = (
    "NodeName=gpu02 Arch=x86_64 CoresPerSocket=32  CPUAlloc=0 Gres=gpu:h100:8(S:0-1) NodeAddr=gpu02 "
    "OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  RealMemory=2987712 State=IDLE+DRAIN+INVALID_REG ThreadsPerCore=2 "
    "AllocTRES= CurrentWatts=0 AveWatts=0  Reason=Low RealMemory (reported:2064384 < 100.00% of configured:2987712) "
    "[slurm@2026-11-21T11:09:31]"
)


def test_a_captured_line() -> None:
    found = node(DRAINED)
    assert (found.name, found.state, found.gres) == ("gpu02", "IDLE", "gpu:h100:8")
    assert found.flags == {"DRAIN", "INVALID_REG"}
    assert found.reason.endswith("[slurm@2026-11-21T11:09:31]")
