# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Port-channels: what all systems say of a member that the switch has elsewhere."""

from __future__ import annotations


def other_channel(port: str, there: str, wanted: str) -> str:
    """Why a port's membership is wrong, with the repair: `there` on the switch, `wanted` in the intent."""
    if not wanted:
        return (
            f"{port} is in {there}, which has the MTU; add {there} to channels of the switch in"
            " drawbridge_fabric.switches"
        )
    found = f"it is in {there}" if there else "it is in no port-channel"
    return f"{port} should be in {wanted}, but {found}; correct channels in drawbridge_fabric.switches, or the switch"
