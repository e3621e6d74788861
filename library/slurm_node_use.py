#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who uses the nodes."""

DOCUMENTATION = r"""
module: slurm_node_use
short_description: Read which nodes Slurm has drained, and which of them still have jobs
version_added: 0.1.0
description:
  - Runs on a Slurm controller and changes nothing. One call of C(scontrol) reads all nodes, one of C(squeue) all jobs.
  - A controller that gives no answer is no failure. The result then has the reason, and nothing counts as drained.
author: Drawbridge contributors (@drawbridge)
options:
  timeout_s:
    description: Seconds in which slurmctld must answer each call.
    type: int
    default: 30
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read who uses the nodes
  drawbridge.drawbridge.slurm_node_use:
  register: node_use
"""

RETURN = r"""
use:
  description: >-
    C(drained), hostlist of the nodes on which Slurm starts no job. C(jobs), the hostlist of each job's nodes by job.
    C(unknown), why Slurm gave no answer, or an empty text.
  returned: success
  type: dict
  sample: {drained: "gpu[01-02]", jobs: {"4711": gpu02}, unknown: ""}
steps:
  description: Always empty.
  returned: always
  type: list
  elements: str
pending:
  description: Always empty.
  returned: always
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.slurm.nodes.use_layer import SLURM_NODE_USE


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NODE_USE)


if __name__ == "__main__":
    main()
