#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which accounts have jobs."""

DOCUMENTATION = r"""
module: slurm_account_jobs
short_description: Read which of some Slurm accounts have jobs
version_added: 0.2.0
description:
  - Runs on a Slurm controller and changes nothing. One call of C(squeue) reads the jobs, and none is made without
    accounts.
  - A controller that gives no answer is no failure. Each account then counts as busy, with the reason.
  - Each account with a job is a warning.
author: Drawbridge contributors (@drawbridge)
options:
  accounts:
    description: Names of accounts.
    type: list
    elements: str
    required: true
  timeout_s:
    description: Seconds in which slurmctld must answer.
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
- name: Read which projects still have jobs
  drawbridge.drawbridge.slurm_account_jobs:
    accounts: [vision, speech]
  register: project_jobs
"""

RETURN = r"""
busy:
  description: Why accounts are in use, by account. Accounts without jobs are left out.
  returned: success
  type: dict
  sample: {vision: job 4711 of it is RUNNING}
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
from ..module_utils.drawbridge.slurm.accounting.jobs_layer import SLURM_ACCOUNT_JOBS


def main() -> None:
    """Run this layer."""
    main_of(SLURM_ACCOUNT_JOBS)


if __name__ == "__main__":
    main()
