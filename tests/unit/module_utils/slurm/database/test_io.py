# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.database.io import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.database.plan import (
    DatabaseState,
)

from tests.unit.module_utils.answers import Answers

WANT = DatabaseState("slurm_acct_db", "slurm")
ASK = "mariadb --batch --skip-column-names --execute "
GRANTS = (
    "GRANT USAGE ON *.* TO `slurm`@`localhost` IDENTIFIED VIA unix_socket\n"
    "GRANT ALL PRIVILEGES ON `slurm_acct_db`.* TO `slurm`@`localhost`\n"
)


def test_a_user_with_a_password_is_not_known_by_its_socket() -> None:
    shown = {f"{ASK}SELECT schema_name": "slurm_acct_db\n", f"{ASK}SELECT JSON_VALUE": "mysql_native_password\n"}
    assert not Server(Answers({**shown, f"{ASK}SHOW GRANTS": GRANTS}), WANT).read().known_by_socket
