#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give slurmdbd a database without a password."""

DOCUMENTATION = r"""
module: slurm_database
short_description: Give slurmdbd a database without a password
version_added: 0.1.0
description:
  - Creates the accounting database in the MariaDB server of this host, and a database user that is known by its socket.
    Only the operating system's user of that name can be it, so there is no password to keep.
  - In check mode on a host without MariaDB, says so in C(pending) instead of failing.
author: Drawbridge contributors
options:
  database:
    description: Name of the database, C(StorageLoc) of slurmdbd.conf.
    type: str
    default: slurm_acct_db
  user:
    description: Operating system user that slurmdbd runs as.
    type: str
    default: slurm
  timeout_s:
    description: How long one statement may take, in seconds.
    type: float
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: Database, user and rights as SQL.
    support: full
"""

EXAMPLES = r"""
- name: Give slurmdbd its database
  drawbridge.drawbridge.slurm_database:
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

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.database.io import Server
from ..module_utils.drawbridge.slurm.database.plan import DatabaseState, plan

ARGUMENT_SPEC = {
    "database": {"type": "str", "default": "slurm_acct_db"},
    "user": {"type": "str", "default": "slurm"},
    "timeout_s": {"type": "float", "default": 30},
}


def main() -> None:
    """Wire the server to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run = Command(module.params["timeout_s"])
    if not Unit("mariadb.service", run).read().active:
        unknown(module, "mariadb.service does not run yet")
    want = DatabaseState(module.params["database"], module.params["user"])
    finish(module, Server(run, want), plan, want)


if __name__ == "__main__":
    main()
