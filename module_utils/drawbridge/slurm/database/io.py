# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The MariaDB server of this host, as root through its socket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...core.command import Run
from ...core.converge import Step
from .plan import DatabaseState


class Server:
    """One database and one user."""

    name = "mariadb"

    def __init__(self, run: Run, want: DatabaseState) -> None:
        self._run, self._want = run, want

    def read(self) -> DatabaseState:
        """Query the server's own tables."""
        want = self._want
        named = f"schema_name='{want.database}'"
        schemas = self._query(f"SELECT schema_name FROM information_schema.schemata WHERE {named}")
        owner = f"User='{want.user}' AND Host='localhost'"
        known = self._query(f"SELECT JSON_VALUE(Priv, '$.plugin') FROM mysql.global_priv WHERE {owner}")
        rights = self._query(f"SHOW GRANTS FOR '{want.user}'@'localhost'") if known else []
        wanted = f"GRANT ALL PRIVILEGES ON `{want.database}`.* TO"
        return replace(
            want,
            exists=bool(schemas),
            known_by_socket=known == ["unix_socket"],
            otherwise=bool(known) and known != ["unix_socket"],
            granted=any(line.startswith(wanted) for line in rights),
        )

    def apply(self, steps: Sequence[Step[DatabaseState]]) -> None:
        """Run the steps' statements."""
        for step in steps:
            self._query(step.payload)

    def _query(self, statement: str) -> list[str]:
        return self._run(["mariadb", "--batch", "--skip-column-names", "--execute", statement]).out.splitlines()
