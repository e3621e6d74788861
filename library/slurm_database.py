#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Create slurmdbd's database, without a password."""

DOCUMENTATION = r"""
module: slurm_database
short_description: Create slurmdbd's database, without a password
version_added: 0.1.0
description:
  - Creates the accounting database in this host's MariaDB server, and a database user. MariaDB authenticates that user
    by its socket, so only the operating system's user of that name can log in, and no password is needed.
  - In check mode, a MariaDB that does not run yet is C(pending), not a failure.
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
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: Database, user and rights as SQL.
    support: full
"""

EXAMPLES = r"""
- name: Create slurmdbd's database
  drawbridge.drawbridge.slurm_database:
"""

RETURN = r"""
steps:
  description: The changes, in check mode the predicted ones, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that are not possible now, and why.
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
}


def main() -> None:
    """Wire the server to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run = Command(timeout_s=30)
    if not Unit("mariadb.service", run).read().active:
        unknown(module, "mariadb.service does not run yet")
    want = DatabaseState(module.params["database"], module.params["user"])
    finish(module, Server(run, want), plan, want)


if __name__ == "__main__":
    main()
