#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep Slurm accounting: QOS, accounts, shares, limits and users."""

DOCUMENTATION = r"""
module: slurm_accounting
short_description: Keep Slurm's QOS, accounts and their users
version_added: 0.1.0
description:
  - Creates the QOS and accounts with exactly these users through C(sacctmgr), and deletes those of O(absent). Other
    QOS and accounts are left alone.
  - I(terms) are all settings of a QOS or account, by C(sacctmgr)'s names. Other settings are unset, or inherited from
    the parent account.
  - A user that the operating system doesn't have is C(pending). Slurm would store the name, but the user can't submit
    jobs.
  - The proof is a new listing, because C(sacctmgr) also reports success for a change without effect.
  - In check mode, a slurmdbd that does not answer is C(pending), not a failure.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.intent.slurm_absent]
options:
  cluster:
    description: C(ClusterName) of slurm.conf.
    type: str
    required: true
  accounts:
    description: Accounts in the order of importance; a user's first account is its default.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the account, in lower case.
        type: str
        required: true
      users:
        description: Login names of its users.
        type: list
        elements: str
        default: []
      groups:
        description:
          - Groups of the operating system whose members may charge it too, also those whose own group it is. While the
            operating system lacks a group, the account keeps the users that it has, and the group is C(pending).
        type: list
        elements: str
        default: []
      keep_users:
        description: Leave its users alone, because other tools add and remove them.
        type: bool
        default: false
      ends:
        description:
          - Last day on which jobs may be submitted, such as V(2027-03-31). After it, by the clock of this host or
            O(today), V(GrpSubmitJobs) is 0.
        type: str
        default: ""
      terms:
        description:
          - Any of V(parent), V(fairshare), V(qos), V(defaultqos), V(GrpTRES), V(GrpJobs), V(GrpSubmitJobs), V(MaxTRES)
            and V(MaxWall). Memory is in MiB, V(MaxWall) in minutes or as Slurm lists it.
        type: dict
        default: {}
  qos:
    description: Qualities of service.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the QOS, in lower case.
        type: str
        required: true
      terms:
        description:
          - Any of V(Priority), V(Preempt), V(PreemptMode), V(GrpTRES), V(MaxTRES), V(MaxTRESPerUser),
            V(MaxJobsPerUser), V(MaxSubmitJobsPerUser) and V(MaxWall).
          - Also V(Flags), V(GraceTime) in seconds, V(UsageFactor) and V(GrpTRESMins). If no QOS has one of these, those
            of all QOS stay as others set them.
        type: dict
        default: {}
  today:
    description:
      - The day by the clock of another host, as year-month-day. What has ended there has ended here, too, so that an
        account is closed before its directory.
    type: str
    default: ""
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: One line for each QOS, account and user.
    support: full
"""

EXAMPLES = r"""
- name: Keep the accounting database
  drawbridge.drawbridge.slurm_accounting:
    cluster: lab
    qos:
      - {name: urgent, terms: {Priority: 1000, Preempt: normal, MaxTRESPerUser: gres/gpu=16}}
    accounts:
      - {name: vision, users: [ada, ben], terms: {fairshare: 2, qos: "normal,urgent"}}
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.slurm.accounting.layer import SLURM_ACCOUNTING


def main() -> None:
    """Run this layer."""
    main_of(SLURM_ACCOUNTING)


if __name__ == "__main__":
    main()
