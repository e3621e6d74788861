# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm printed of a node at one moment, read again by the programs that run on nodes."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look_io import Host
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.own_record import LISTING
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.report_io import Record
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = ROOT / "tests/transcripts/slurm"
RELEASES = ("24.11", "26.05")


def _loaded() -> ModuleType:
    """slurm-health as a module. It imports none of this tree."""
    spec = importlib.util.spec_from_file_location("slurm_health", ROOT / "roles/slurm_node/files/slurm-health.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HEALTH = _loaded()
CALLS = {
    "report": (*LISTING, "--nodes="),
    "health": (*cast("Sequence[str]", HEALTH.LISTING), "--nodes="),
    "shown": ("scontrol", "show", "node", ""),
    "line": ("scontrol", "--oneliner", "show", "node", ""),
}
"""The calls by which programs read a record; the node's name comes at the end."""


@dataclass
class Moment:
    """One node at one moment: the outputs of CALLS by their names. `calls` are those that a reader made."""

    node: str
    outputs: dict[str, str]
    calls: list[str] = field(default_factory=lambda: [])

    @classmethod
    def of_folder(cls, folder: Path, name: str, node: str) -> Moment:
        """What a scene wrote into files NAME.CALL."""
        return cls(node, {it: (folder / f"{name}.{it}").read_bytes().decode(errors="replace") for it in CALLS})

    def _told(self, argv: Sequence[str]) -> tuple[str, int]:
        name = next(it for it, call in CALLS.items() if [*argv] == [*call[:-1], call[-1] + self.node])
        self.calls.append(name)
        out = self.outputs[name]
        return out, int(out == f"Node {self.node} not found\n")

    def run(self, argv: Sequence[str], _seconds: float) -> Output:
        """In the place of Host.run."""
        out, code = self._told(argv)
        return Output(out, "", code)

    def seen(self) -> Seen:
        """The node, as drawbridge-node-health reads it. Raises DeviceError."""
        return Record(self.node, cast("Host", self)).read()

    def words(self, patch: pytest.MonkeyPatch) -> tuple[set[str], str]:
        """The words of its state and its reason, as slurm-health reads them. Raises its Unhealthy."""

        def run(argv: Sequence[str], _limit_s: float) -> str:
            out, code = self._told(argv)
            if code:
                raise HEALTH.Unhealthy(out.strip())
            return out

        patch.setattr(HEALTH, "run", run)
        return cast("Callable[[str], tuple[set[str], str]]", HEALTH.record)(self.node)


def recorded(release: str) -> dict[str, Moment]:
    """The moments of a transcript, by name."""
    lines = (TRANSCRIPTS / f"record_{release}.txt").read_text().splitlines()[1:]
    rows = (json.loads(line) for line in lines)
    return {row["moment"]: Moment(row["node"], {it: row[it] for it in CALLS}) for row in rows}
