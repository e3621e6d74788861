# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The watch check of the vendor's units: the manager of the switches between GPUs, and the persistence daemon."""

from __future__ import annotations

from collections.abc import Sequence

from ...nodes.gpus.vendors import VENDORS
from ..gpu_models import gpu_model
from ..measure import Found, Missing, Remark
from ..node import ProofNode
from ..tools import units_text
from ..tools.output import absent, not_recognised, stopped
from .check import WATCH, Check, Output, Texts
from .state_gpus import reader
from .tools import program

UNITS = "GPU units"
DIRECT = 4
"""GPUs of a node that are joined without switches, at most."""


def _switch_unit(node: ProofNode) -> str:
    """Empty for GPUs without switches, and for those of a rack: its manager runs on the switches themselves."""
    model, vendor = gpu_model(node.gpu_product), VENDORS.get(node.gpu_vendor)
    joined = model and model.link and not model.mesh and not model.rack and node.gpus > DIRECT
    return vendor.switch_unit if joined and vendor else ""


def _units(node: ProofNode) -> list[str]:
    own = reader(node)
    return [unit for unit in (_switch_unit(node), own.persistence_unit if own else "") if unit]


def _found(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    """Units that are not installed, and hosts without systemd, have no finding. A broken daemon only warns."""
    output = outputs[0]
    if absent(output.code):
        return []
    try:
        states = units_text.states(output.stdout)
    except ValueError:
        why = stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr)
        return [Missing(UNITS, node.name, why)]
    needed = _switch_unit(node)
    return [
        Remark(UNITS, node.name, f"{unit} is {state}", warning=unit != needed)
        for unit, state in states.items()
        if state == units_text.FAILED or (unit == needed and state not in units_text.RUNS)
    ]


UNIT_CHECKS: tuple[Check, ...] = (
    Check(
        UNITS,
        WATCH,
        "A unit of the GPUs' driver does not run: look at its journal, and whether its version is the driver's.",
        "System",
        lambda node: node.gpus > 0 and bool(_units(node)),
        _found,
        lambda node: [program((*units_text.SHOW, "--", *_units(node)), 10)],
    ),
)
