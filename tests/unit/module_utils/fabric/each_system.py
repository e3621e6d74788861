# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What tests of all systems need to know of each: which lines make a change, and what others may have typed before."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_switch import Emulated

SAVE = "save the running configuration, so that a restart keeps it"
PROVE = "prove the change in force, which an earlier run left unproven and unsaved"
STATES = yaml.safe_load((Path(__file__).parent / "nos/any_state.yml").read_text())


@dataclass(frozen=True)
class System:
    """The lines of a change, as regular expressions: faults strike there."""

    fixture: str
    first: str
    """After it, no other operator can come in between."""
    port: str
    """Gives a port its MTU."""
    force: str
    """Puts the change in force."""
    keep: str
    """Confirms it."""
    save: str
    reads: int
    """How many lines a run types that has nothing to do."""
    whole: str = ""
    """The section of the whole switch whose change stops traffic."""
    saved: str = "startup"
    """The emulator's key of what a restart brings back."""

    def __str__(self) -> str:
        """The name of its tests."""
        return self.fixture


EOS = System("leaf", "^configure session", "^ *mtu 9214", "commit timer", "^configure session .* commit$", "^write", 5)
CUMULUS = System("cumulus", "^nv config detach", "link mtu 9214", "apply -y", "--confirm-yes", "save", 5, "RoCE mode")
CUMULUS9 = replace(CUMULUS, fixture="cumulus9", reads=6)
SONIC = System("sonic", "^mkdir", "patch .*/2.json", "pfcwd start", "systemctl stop", "config save", 5, saved="saved")
SONIC24 = replace(SONIC, fixture="sonic24")
NEXUS = System("nexus", "^configure dual", "^mtu 9214", "^commit conf", "^commit$", "^copy running", 4, "system qos")
NEXUS9 = System("nexus9", "^conf", "^mtu 9214", "^service-policy type net", "no scheduler s", "^copy", 4, "system qos")
JUNOS = System("junos", "^configure exclusive", "mtu 9214", "^commit confirmed", "^commit$", "", 4, saved="")
OS10 = System("os10", "^lock", "^mtu 9214", "^commit", "", "^write memory", 5)
SYSTEMS = (EOS, CUMULUS, CUMULUS9, SONIC, SONIC24, NEXUS, NEXUS9, JUNOS, OS10)
EACH = pytest.mark.parametrize("system", SYSTEMS, ids=str)


def soil(kind: type[Emulated], state: dict[str, Any], rows: Iterable[str]) -> dict[str, Any]:
    """The state after rows that others typed. One that contradicts an earlier one is refused."""
    off = "state disabled" if "5.16" in str(state.get("version")) else "enable off"
    for row in rows:
        before = copy.deepcopy(state)
        try:
            kind.configure(state, tuple(row.format(off=off).split(" ; ")), 0.0)
        except Refused:
            state = before
    return state


def make_dirty(switch: Emulated, *whose: str) -> None:
    """Let others type what they must not lose, and what a change must repair. On SONiC, these exclude each other."""
    with switch.state() as state:
        for rows in whose or (("foreign",) if switch.system == "sonic" else ("foreign", "ours")):
            state.update(soil(type(switch), copy.deepcopy(state), STATES[switch.system][rows]))
