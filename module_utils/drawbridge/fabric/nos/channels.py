# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Port-channels: what all systems say of a member that the switch has elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..model import SwitchProfile
from ..plan import PORT


def other_channel(port: str, there: str, wanted: str) -> str:
    """Why a port's membership is wrong, with the repair: `there` on the switch, `wanted` in the intent."""
    if not wanted:
        return (
            f"{port} is in {there}, which has the MTU; add {there} to channels of the switch in"
            " drawbridge_fabric.switches"
        )
    found = f"it is in {there}" if there else "it is in no port-channel"
    return f"{port} should be in {wanted}, but {found}; correct channels in drawbridge_fabric.switches, or the switch"


def wrong_groups(sections: Mapping[str, Iterable[str]], profile: SwitchProfile) -> Iterator[str]:
    """Faults of members whose lines name their group: `channel-group 1 mode active` is port-channel1."""
    for port in profile.ports:
        groups = [words[1] for line in sections[f"{PORT}{port}"] if (words := line.split())[:1] == ["channel-group"]]
        there, wanted = f"port-channel{groups[0]}" if groups else "", profile.channel_of.get(port, "")
        if there != wanted:
            yield other_channel(port, there, wanted)
        elif wanted and f"{PORT}{wanted}" not in sections:
            yield f"it has no {wanted}; make the port-channel on the switch"
