# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller with an emulated scontrol, in one process. `tool()` finds a file, so that a PATH is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.settings import (
    Settings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.store_io import Store
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.tend_io import (
    Place,
    tend,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health

from tests.unit.module_utils.health.emulated_scontrol import Refused, Scontrol, new

NAMES = [f"n{at:02d}" for at in range(1, 21)]
PROVE = "prove {name}"
LINK = "drawbridge health: [fabric] rail3: rail link: down"
LOST = "drawbridge health: [node reboot] GPU 3: GPUs present: lost"
ROWS = "drawbridge health: [node repair] GPU 3: GPU memory rows: failed"
MOUNT = "drawbridge health: /fs1 is not mounted"


def settings(proofs: str = "", **changes: Any) -> Settings:
    """A site of two units of ten nodes. `changes` are those of Health."""
    health = asdict(replace(Health(), **changes))
    units = {"leaf1": "n[01-10]", "leaf2": "n[11-20]"}
    return Settings.parse(json.dumps({"health": health, "units": units, "proofs": proofs}))


class Controller:
    """Slurm, a store, a clock and a log."""

    def __init__(self, root: Path, proofs: str = "", **changes: Any) -> None:
        self.slurm = Scontrol([new(name) for name in NAMES])
        self.said: list[str] = []
        self.hung: set[str] = set()
        (root / "bin").mkdir(parents=True)
        (root / "bin/scontrol").touch(mode=0o755)
        self.place = Place(
            settings(proofs, **changes),
            Store(root / "store"),
            self.run,
            self.said.append,
            PROVE,
            root / "metrics",
            self.now,
        )

    def now(self) -> float:
        return self.slurm.now

    def run(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        assert ok == (0,)
        try:
            if argv[1] in self.hung:
                raise DeviceError("scontrol gave no answer within 20 s and was killed", stdout="", stderr="")
            return Completed(0, self.slurm.call(list(argv[1:])), "")
        except Refused as err:
            raise DeviceError(f"scontrol failed: {err}", rc=1) from err

    def node(self, name: str) -> dict[str, Any]:
        return self.slurm.nodes[name]

    def report(self, comment: str, *names: str) -> None:
        for name in names:
            self.node(name)["comment"] = comment

    def tend(self, times: int = 1) -> list[str]:
        """The changes that these looks made."""
        self.slurm.calls = []
        for _look in range(times):
            self.slurm.now += 30
            with self.place.store.locked():
                tend(self.place)
        made = [" ".join(call) for call in self.slurm.calls if call[0] != "show"]
        self.slurm.calls = []
        return made

    def history(self) -> list[tuple[str, str, str]]:
        return [(it.node, it.what, it.text) for it in self.place.store.entries()]

    def memory(self) -> dict[str, Any]:
        return dict(json.loads(self.place.store.memory.read_text()))

    def metrics(self) -> Mapping[str, float]:
        """Values by name and labels, without the common start of names."""
        lines = (self.place.metrics / "health.prom").read_text().splitlines()
        pairs = (line.replace("drawbridge_health_", "").rpartition(" ") for line in lines if line[0] != "#")
        return {name: float(value) for name, _blank, value in pairs}
