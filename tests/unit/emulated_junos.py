# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated QFX switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch

from lab.emulators.fabric.junos import commits, schema, statements
from tests.unit import emulated_switch
from tests.unit.emulated_model_switch import ModelSwitch
from tests.unit.emulated_switch import PORTS, QUICK, Leaf, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a QFX switch would have it."""
    names = tuple(f"et-0/0/{number}" for number in range(ports))
    return replace(emulated_switch.profile(), platform="junos", asic="tomahawk3", ports=names)


class Junos(ModelSwitch):
    """A QFX switch."""

    tool = "junos"
    dialect = DIALECT
    profile = profile()
    factory = commits.factory("leaf1", "tomahawk3", PORTS, "10.77.1.41")

    limits = QUICK

    def reset(self) -> None:
        """As it left the factory."""
        self.limits = QUICK
        super().reset()

    @contextlib.contextmanager
    def switch(self, want: SwitchProfile | None = None) -> Iterator[Switch]:
        """The device under test, also with other limits."""
        leaf = Leaf(self.directory, self.keys, self.port)
        switch = Switch(leaf.login, self.dialect, want or self.profile, self.limits)
        try:
            yield switch
        finally:
            switch.close()

    def type(self, *lines: str, minutes: int = 0) -> None:
        """Commit edits as another user: `set ...`, `delete ...` or `deactivate ...`."""
        with self.state() as state:
            config = commits.candidate(state)
            for line in lines:
                verb, *words = schema.split(line)
                if verb == "set":
                    statements.set_(config, words)
                elif verb == "delete":
                    statements.delete(config, words)
                else:
                    statements.switch(config, words, on=False)
            commits.stage(state, "noc", config)
            commits.commit(state, "noc", "vty99", 0, minutes, "")

    def edit(self, line: str) -> None:
        """Leave an edit in the candidate that all users share."""
        with self.state() as state:
            config = commits.candidate(state)
            statements.set_(config, line.split())
            commits.stage(state, "noc", config)

    def lines(self) -> list[str]:
        """What is in force, as `show configuration | display set` prints it."""
        with self.state() as state:
            return statements.printed(state["active"])

    def ports(self, what: str) -> dict[str, int]:
        """How often each port flapped, or was blocked."""
        with self.state() as state:
            return {name: port[what] for name, port in state["ports"].items()}

    def waiting(self) -> bool:
        """Whether a commit waits for its confirmation."""
        with self.state() as state:
            return bool(state["pending"])


def start(folder: Path) -> tuple[Junos, subprocess.Popen[str]]:
    """Start a QFX switch."""
    port, process = serve(folder, "junos")
    return Junos(folder / "leaf1", folder, port), process
