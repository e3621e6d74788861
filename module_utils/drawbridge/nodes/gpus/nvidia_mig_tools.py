# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tools of NVIDIA's instances (MIG): nvidia-mig-parted divides, and nvidia-smi reads the mode.

`nvidia-mig-parted apply` also succeeds when it did nothing or deleted all instances; `assert` compares. It runs without
hooks: the vendor's restart kubelet. Its own unit writes a file from the hardware at each boot and applies that one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from .vendor import Divider, Layout, Mode

LABEL = "drawbridge"
_MODES = {"Enabled": True, "Disabled": False}
_NONE = ("[N/A]", "N/A", "[Not Supported]")
"""What nvidia-smi prints of GPUs that can't be divided."""
_ROW = re.compile(r"(\d+), ([^,]+), ([^,]+)")


def modes(text: str) -> list[Mode]:
    """The mode of each GPU. Raises ValueError for a line that it does not know, or GPUs in another order."""
    found: list[Mode] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        row = _ROW.fullmatch(line)
        if not row or int(row[1]) != len(found):
            raise ValueError(line)
        now, later = row[2].strip(), row[3].strip()
        if now in _NONE and later in _NONE:
            found.append(Mode(possible=False))
        elif now in _MODES and later in _MODES:
            found.append(Mode(_MODES[now], _MODES[later]))
        else:
            raise ValueError(line)
    return found


def configuration(layouts: Sequence[Layout]) -> str:
    """A configuration with one label. Each GPU is in one entry, because `assert` refuses a GPU that no entry has."""
    groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for gpu, layout in enumerate(layouts):
        groups.setdefault(tuple(sorted(layout.items())), []).append(gpu)
    entries = [
        {"devices": gpus, "mig-enabled": bool(layout), "mig-devices": dict(layout)} for layout, gpus in groups.items()
    ]
    return json.dumps({"version": "v1", "mig-configs": {LABEL: entries}}, indent=1) + "\n"


DIVIDER = Divider(
    modes=("nvidia-smi", "--query-gpu=index,mig.mode.current,mig.mode.pending", "--format=csv,noheader"),
    read_modes=modes,
    program="nvidia-mig-parted",
    package="NVIDIA's package nvidia-mig-manager, whose unit Drawbridge keeps off",
    apply=("apply", "-f", "-", "-c", LABEL),
    check=("assert", "-f", "-", "-c", LABEL),
    configuration=configuration,
    in_use=r"ERROR_IN_USE|(?i:in use by|being used by)",
    holders="nvidia-dcgm, dcgm-exporter or a device plugin",
    unit="nvidia-mig-manager.service",
    stays_whole="nvidia-smi -i {gpu} -mig 0",
)
