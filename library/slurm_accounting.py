#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep Slurm accounting: QOS, accounts, shares and limits, and who may charge what."""

DOCUMENTATION = r"""
module: slurm_accounting
short_description: Keep Slurm's QOS and accounts, and who may charge them
version_added: 0.1.0
description:
  - Brings the QOS and accounts named here, and exactly the users named in them, into Slurm accounting through
    C(sacctmgr), and those of O(absent) out of them. Other QOS and accounts are left alone.
  - What is set on them is exactly what I(terms) say, in C(sacctmgr)'s words. What they don't say is taken away or, for
    what accounts inherit, left to the account above.
  - A user whom the operating system doesn't know is C(pending), since Slurm would take the name and nobody could use
    it.
  - C(sacctmgr) calls a change that changed nothing a success and one that was made before a failure, so only what it
    lists afterwards counts.
  - In check mode, while slurmdbd does not answer yet, says so in C(pending) instead of failing.
author: Drawbridge contributors
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
        description: Login names of all who may charge it.
        type: list
        elements: str
        default: []
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
        type: dict
        default: {}
  settle_s:
    description: How long slurmdbd may take to answer, in seconds. On the first day it makes its tables.
    type: float
    default: 240
  timeout_s:
    description: How long one call of sacctmgr may take, in seconds.
    type: float
    default: 60
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: QOS, accounts and users, one a line.
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
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be done now, and why.
  returned: always
  type: list
  elements: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.spec import bare, documented
from ..module_utils.drawbridge.slurm.accounting.io import Accounting
from ..module_utils.drawbridge.slurm.accounting.model import Absent
from ..module_utils.drawbridge.slurm.accounting.plan import AccountingState, plan

ARGUMENT_SPEC = {
    "cluster": {"type": "str", "required": True},
    "accounts": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "users": {"type": "list", "elements": "str", "default": []},
            "terms": {"type": "dict", "default": {}},
        },
    },
    "qos": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "name": {"type": "str", "required": True},
            "terms": {"type": "dict", "default": {}},
        },
    },
    "absent": bare({**documented(Absent), "default": {}}),
    "settle_s": {"type": "float", "default": 240},
    "timeout_s": {"type": "float", "default": 60},
}


def wanted(accounts: list[dict[str, Any]], qos: list[dict[str, Any]], absent: dict[str, list[str]]) -> AccountingState:
    """The accounting database as the arguments describe them. Raises ValueError for a term that is none."""
    kinds = (("account", "accounts"), ("qos", "qos"))
    unwanted = frozenset((kind, name) for kind, key in kinds for name in absent.get(key) or [])
    users = {account["name"]: account["users"] for account in accounts}
    terms = ({item["name"]: _texts(item["terms"]) for item in items} for items in (accounts, qos))
    return AccountingState.of(users, *terms, unwanted=unwanted)


def _texts(terms: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in terms.items()}


def main() -> None:
    """Wire the accounting database to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        want = wanted(module.params["accounts"], module.params["qos"], module.params["absent"])
    except ValueError as err:
        return module.fail_json(msg=f"the accounting database can't be kept as described: {err}", changed=False)
    accounting = Accounting(Command(module.params["timeout_s"]), module.params["cluster"], want)
    if silence := accounting.silence(0 if module.check_mode else module.params["settle_s"]):
        unknown(module, silence)
    finish(module, accounting, plan, want)


if __name__ == "__main__":
    main()
