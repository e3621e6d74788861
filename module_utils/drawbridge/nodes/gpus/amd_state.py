# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of AMD's GPUs: the JSON of amd-smi, in the forms of releases 6 and 7. It has the least that checks need."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import state
from .amd import gpus
from .amd_faults import read_log
from .state import GpuState, Read, StateReader

_GENERATIONS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
"""GT/s of a lane -> generation of PCIe."""


def read(texts: Sequence[str]) -> list[GpuState]:
    """GPUs of `amd-smi static` and of `amd-smi metric`. Raises ValueError for other JSON, or for other GPUs in it."""
    about, metrics = ({int(gpu["gpu"]): gpu for gpu in gpus(text)} for text in texts)
    if about.keys() != metrics.keys():
        raise ValueError(f"static has {len(about)} GPUs, metric {len(metrics)}")
    return [_state(index, about[index], metrics[index]) for index in sorted(about)]


def _state(index: int, about: Mapping[str, Any], metric: Mapping[str, Any]) -> GpuState:
    link, most, errors = metric.get("pcie"), about.get("bus"), metric.get("ecc")
    found: dict[str, Any] = {
        state.PRODUCT: _of(about.get("asic"), "market_name"),
        state.PCI: _of(most, "bdf"),
        state.WIDTH: _number(_of(link, "width")),
        state.MOST_WIDTH: _number(_of(most, "max_pcie_width")),
        state.GENERATION: _generation(_of(link, "speed")),
        state.MOST_GENERATION: _generation(_of(most, "max_pcie_speed")),
        state.UNCORRECTED: _number(_of(errors, "total_uncorrectable_count")),
    }
    values: dict[str, Read] = {key: value for key, value in found.items() if not isinstance(value, ValueError)}
    # the links of Instinct GPUs do not sleep
    values[state.ACTIVE] = True
    return GpuState(index, values, {key: str(found[key]) for key in found.keys() - values.keys()})


def _of(part: object, key: str) -> Any:
    """A value as it is printed, None for N/A; ValueError as a value for a key that is not there."""
    if not isinstance(part, dict) or key not in part:
        return ValueError(f"no field {key}")
    return None if part[key] == "N/A" else part[key]


def _number(shown: Any) -> Any:
    """The number of 16, "16", "32 GT/s" or {"value": 32, "unit": "GT/s"}."""
    value = shown.get("value") if isinstance(shown, dict) else shown
    if value is None or isinstance(value, ValueError):
        return value
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?: GT/s)?", str(value))
    return float(match[1]) if match else ValueError(str(value))


def _generation(shown: Any) -> Any:
    rate = _number(shown)
    return _GENERATIONS.get(rate, ValueError(f"{rate} GT/s")) if isinstance(rate, float) else rate


_SMI = "amd-smi"
STATE = StateReader(
    programs=((_SMI, "static", "--asic", "--bus", "--json"), (_SMI, "metric", "--ecc", "--pcie", "--json")),
    read=read,
    read_log=read_log,
    covers=frozenset(
        (
            state.PRODUCT,
            state.PCI,
            state.ACTIVE,
            state.GENERATION,
            state.WIDTH,
            state.MOST_GENERATION,
            state.MOST_WIDTH,
            state.UNCORRECTED,
        )
    ),
)
