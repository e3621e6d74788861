# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: what the site must correct before a change, and what the hardware really pauses."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...model import SwitchProfile
from ..channels import other_channel
from ..dialect import DialectError
from .lines import Tables, covered

MASK = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL"
"""A bit for each priority that a port pauses, as orchagent gives it to the hardware."""
SOURCE_PORT = "L4_SRC_PORT"
DECODER = json.JSONDecoder()


def unfit(config: Tables, profile: SwitchProfile) -> Iterator[str]:
    """What the site must correct first, each as a sentence with the repair."""
    kind = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("switch_type", "switch")
    if kind not in ("switch", "") or "PORT" not in config:
        found = "has no ports in its own ConfigDB" if kind == "switch" else f"has the switch_type {kind}"
        yield f"it {found}, as chassis and switches with several ASICs have; Drawbridge configures switches with one"
        return
    if missing := [port for port in profile.ports if port not in config.get("PORT", {})]:
        yield (
            f"it has no {', '.join(missing)}, which drawbridge_fabric.switches lists; correct ports there, or break the"
            " port out"
        )
    hashed = config.get("SWITCH_HASH", {}).get("GLOBAL", {}).get("ecmp_hash", SOURCE_PORT)
    if SOURCE_PORT not in hashed:
        yield (
            f"its ECMP hash leaves {SOURCE_PORT} out, by which RoCE flows differ; add it on the switch with: sudo"
            " config switch-hash global ecmp-hash"
        )
    lengths = {port: length for it in config.get("CABLE_LENGTH", {}).values() for port, length in it.items()}
    dynamic = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic"
    members = {port: name for name, _sep, port in (key.partition("|") for key in config.get("PORTCHANNEL_MEMBER", {}))}
    for port in profile.ports:
        if lengths.get(port, "0m") == "0m":
            yield f"{port} has no cable length, from which SONiC derives headroom; add {port} to the table CABLE_LENGTH"
        if dynamic and (without := [n for n in profile.lossless if not _has_buffer(config, port, n)]):
            yield (
                f"{port} has no lossless buffer for priority {without[0]}; add one on the switch with: sudo config"
                f" interface buffer priority-group lossless add {port} {without[0]}"
            )
        if members.get(port, "") != (wanted := profile.channel_of.get(port, "")):
            yield other_channel(port, members.get(port, ""), wanted)


def _has_buffer(config: Tables, port: str, priority: int) -> bool:
    """With the dynamic buffer model, the updater's tables say which priority groups are lossless."""
    keys = [key.split("|") for key in config.get("BUFFER_PG", {})]
    return any(name == port and priority in covered(numbers) for name, numbers in keys)


def unproven(answer: str, profile: SwitchProfile) -> Iterator[str]:
    """Ports that don't pause exactly the lossless priorities, by what orchagent gave to the hardware."""
    try:
        names, end = DECODER.raw_decode(answer.lstrip())
        ports, _unused = DECODER.raw_decode(answer.lstrip()[end:].lstrip())
    except ValueError as err:
        raise DialectError(f"it printed no JSON of its hardware, but {answer.strip()[:80]!r}") from err
    identifiers = next(iter(names.values()), {"value": {}})["value"]
    wanted = sum(1 << number for number in profile.lossless)
    for port in profile.ports:
        state = ports.get(f"ASIC_STATE:SAI_OBJECT_TYPE_PORT:{identifiers.get(port)}", {"value": {}})["value"]
        mask = int(state.get(MASK, 0))
        if mask != wanted:
            paused = ",".join(str(number) for number in range(8) if mask >> number & 1) or "none"
            shown = ",".join(map(str, profile.lossless))
            yield f"{port} does not pause priority {shown} alone (priorities {paused})"
