# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.database.io import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.database.plan import (
    DatabaseState,
    plan,
)

from tests.unit.module_utils.answers import Answers

WANT = DatabaseState("slurm_acct_db", "slurm")
ASK = "mariadb --batch --skip-column-names --execute "
GRANTS = (
    "GRANT USAGE ON *.* TO `slurm`@`localhost` IDENTIFIED VIA unix_socket\n"
    "GRANT ALL PRIVILEGES ON `slurm_acct_db`.* TO `slurm`@`localhost`\n"
)


def server(schemas: str, plugin: str, grants: str = "") -> tuple[Server, Answers]:
    run = Answers(
        {
            f"{ASK}SELECT schema_name": schemas,
            f"{ASK}SELECT JSON_VALUE": plugin,
            f"{ASK}SHOW GRANTS": grants,
            f"{ASK}CREATE": "",
            f"{ASK}GRANT": "",
        }
    )
    return Server(run, WANT), run


def test_all_there() -> None:
    assert server("slurm_acct_db\n", "unix_socket\n", GRANTS)[0].read() == WANT


def test_an_empty_server_is_not_asked_for_rights_of_nobody() -> None:
    device, run = server("", "")
    assert device.read() == DatabaseState("slurm_acct_db", "slurm", False, False, False)
    assert not [line for line in run.asked if "SHOW GRANTS" in line]


def test_a_user_with_a_password_is_not_known_by_its_socket() -> None:
    assert not server("slurm_acct_db\n", "mysql_native_password\n", GRANTS)[0].read().known_by_socket


def test_steps_are_statements() -> None:
    device, run = server("", "")
    device.apply(plan(device.read(), WANT))
    assert [line.removeprefix(ASK).split()[0] for line in run.asked[-3:]] == ["CREATE", "CREATE", "GRANT"]
