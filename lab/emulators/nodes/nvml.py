# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes and instances of GPUs for nvidia-smi, from the file that the emulated NVML keeps. Other hosts have none."""

from __future__ import annotations

from ..nvml.state import State, place, shared

PROFILES = {0: "7g.80gb", 5: "4g.40gb", 9: "3g.40gb", 14: "2g.20gb", 15: "1g.20gb", 19: "1g.10gb", 20: "1g.10gb+me"}
"""Names of an H100's profiles, by the ids of `nvidia-smi mig -lgip`."""
_WORDS = ("Disabled", "Enabled")


def state() -> State | None:
    """Return the state of the host's GPUs; None on a host without the emulated NVML."""
    if not place().exists():
        return None
    with shared() as found:
        return found


def modes(index: str) -> dict[str, str]:
    """Return the fields of a query about a GPU's mode."""
    found = state()
    now, later = (found.gpus[int(index)].mode, found.gpus[int(index)].pending) if found else (0, 0)
    return {"mig.mode.current": _WORDS[now], "mig.mode.pending": _WORDS[later]}


def instances(index: str) -> list[tuple[str, str]]:
    """Return the profile and the UUID of each of a GPU's instances."""
    found = state() or State()
    profiles = {(it.gpu, it.id): PROFILES[it.profile] for it in found.instances}
    own = [it for it in found.computes if it.gpu == int(index)]
    return [(profiles[it.gpu, it.instance], it.uuid) for it in own]
