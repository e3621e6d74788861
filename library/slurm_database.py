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
author: Drawbridge contributors (@drawbridge)
options:
  database:
    description: Name of the database, C(StorageLoc) of slurmdbd.conf.
    type: str
    default: slurm_acct_db
  user:
    description: Operating system user that slurmdbd runs as.
    type: str
    default: slurm
  may_drop:
    description: Consent. A database user of this name that has a password loses it.
    type: bool
    default: false
  variables:
    description: Variables that set this module's options, by option, for error messages.
    type: dict
    default: {}
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
from ..module_utils.drawbridge.slurm.database.layer import SLURM_DATABASE


def main() -> None:
    """Run this layer."""
    main_of(SLURM_DATABASE)


if __name__ == "__main__":
    main()
