#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep Slurm's books: accounts, and who may charge them."""

DOCUMENTATION = r"""
module: slurm_accounting
short_description: Keep Slurm's accounts and who may charge them
version_added: 0.1.0
description:
  - Brings the accounts named here, and exactly the users named in them, into Slurm's books through C(sacctmgr). Other
    accounts are left alone.
  - C(sacctmgr) calls a change that changed nothing a success and one that was made before a failure, so only what it
    lists afterwards counts.
  - In check mode, while slurmdbd does not answer yet, says so in C(pending) instead of failing.
author: Drawbridge contributors
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
  settle_s:
    description: How long slurmdbd may take to answer, in seconds.
    type: float
    default: 30
  timeout_s:
    description: How long one call of sacctmgr may take, in seconds.
    type: float
    default: 60
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: Accounts and users, one a line.
    support: full
"""

EXAMPLES = r"""
- name: Keep the books
  drawbridge.drawbridge.slurm_accounting:
    cluster: lab
    accounts:
      - {name: vision, users: [ada, ben]}
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

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.adapters.command import Command
from ..module_utils.drawbridge.adapters.sacctmgr import Books
from ..module_utils.drawbridge.module import finish
from ..module_utils.drawbridge.plans.books import BookState, plan
from ..module_utils.drawbridge.unready import unready

ARGUMENT_SPEC = {
    "cluster": {"type": "str", "required": True},
    "accounts": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "users": {"type": "list", "elements": "str", "default": []},
        },
    },
    "settle_s": {"type": "float", "default": 30},
    "timeout_s": {"type": "float", "default": 60},
}


def main() -> None:
    """Wire the books to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    accounts = {account["name"]: tuple(account["users"]) for account in module.params["accounts"]}
    want = BookState.of(accounts)
    books = Books(Command(module.params["timeout_s"]), module.params["cluster"], want)
    if silence := books.silence(0 if module.check_mode else module.params["settle_s"]):
        unready(module, silence)
    finish(module, books, plan, want)


if __name__ == "__main__":
    main()
