# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dell SmartFabric OS10: the lines of the lossless class, the answers to show commands, and transactions.

Only the controller imports this: it needs hier_config. Drawbridge owns the WRED profile, maps and policies named ROCE,
and their classes. On the intent's ports it owns the MTU, link-level flow control, PFC, ETS, and the maps and policies
of the port; on port-channels the MTU. With `ecmp` it owns fields of RoCE that the hash leaves out. `system qos`,
policies that classify, DCBX and all else belong to the site.

A change is a transaction: its lines wait in the candidate until `commit`. No timer rolls it back. A change in force
that is not saved is one that no run has proven. It goes back to the startup configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...model import SwitchProfile
from ...plan import PORT, Config, Lines
from ...strategy import SavedStartup, always
from ..channels import wrong_groups
from ..dialect import Dialect, DialectError
from .capabilities import CAPABILITIES, REST
from .commands import commands, on_ports, removed_last, stops
from .lines import LEFT_OUT, NAME, blocks_of, classes, is_owned, is_owned_on_port, on_port, ranges, sections_of
from .state import reads

CANDIDATE = "candidate-configuration"
SAVE = "write memory"
_FIELD = re.compile(r" *(Admin Mode|Operstatus|PFC Priorities) *: *(.*?) *")
_PORT = re.compile(r"ethernet[\d/:]+")
_TYPED = re.compile(rf"{PORT}(ethernet[\d/:]+|port-channel\d+)")


def render(profile: SwitchProfile) -> Config:
    """The wanted state. OS10 counts thresholds in kilobytes; other traffic shares what the classes leave."""
    blocks = {header: list(body) for header, body in _definitions(profile)}
    blocks |= {f"{PORT}{port}": list(_on_port(profile)) for port in profile.ports}
    blocks |= {f"{PORT}{channel.name}": [f" mtu {profile.mtu_bytes}"] for channel in profile.channels}
    return Config(sections_of(blocks, profile))


def _definitions(profile: SwitchProfile) -> Iterator[tuple[str, Lines]]:
    roce, cnp, own = profile.roce, profile.cnp, classes(profile)
    marked = {*range(64)} - {it.dscp for it in own}
    others = {*range(8)} - {it.priority for it in own}
    groups = [f" qos-group {it.priority} dscp {it.dscp}" for it in own]
    yield f"trust dscp-map {NAME}", (f" qos-group {REST} dscp {ranges(marked)}", *groups)
    queues = [f" queue {it.priority} qos-group {it.priority}" for it in own]
    yield f"qos-map traffic-class {NAME}", (f" queue {REST} qos-group {ranges(others)}", *queues)
    thresholds = f"minimum-threshold {roce.ecn_min_bytes // 1000} maximum-threshold {roce.ecn_max_bytes // 1000}"
    green = f" random-detect color green {thresholds} drop-probability {roce.ecn_probability_percent}"
    yield f"wred {NAME}", (green, " random-detect ecn")
    shares = _shares(profile)
    for queue in sorted({*shares, cnp.priority}):
        yield f"class-map type queuing {NAME}-Q{queue}", (f" match queue {queue}",)
    served: list[str] = []
    for queue in sorted({*shares, cnp.priority}):
        share = f"  bandwidth percent {shares[queue]}" if queue in shares else "  priority"
        ecn = [f"  random-detect {NAME}"] if queue in profile.lossless else []
        served += [f" class {NAME}-Q{queue}", share, *ecn]
    yield f"policy-map type queuing {NAME}", tuple(served)
    paused: list[str] = []
    for priority in profile.lossless:
        yield f"class-map type network-qos {NAME}-{priority}", (f" match qos-group {priority}",)
        paused += [f" class {NAME}-{priority}", "  pause", f"  pfc-cos {priority}"]
    yield f"policy-map type network-qos {NAME}", tuple(paused)


def _shares(profile: SwitchProfile) -> dict[int, int]:
    """Percent of the link by queue; the strict queue has none."""
    parts = [profile.roce, *([profile.storage] if profile.storage else [])]
    shares = {part.priority: part.bandwidth_percent for part in parts}
    return {REST: 100 - sum(shares.values()), **shares}


def _on_port(profile: SwitchProfile) -> Lines:
    return (
        f" mtu {profile.mtu_bytes}",
        " priority-flow-control mode on",  # link-level flow control, which excludes it, is off by default
        f" service-policy input type network-qos {NAME}",
        f" service-policy output type queuing {NAME}",
        " ets mode on",
        f" qos-map traffic-class {NAME}",
        f" trust-map dscp {NAME}",
    )


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for a port that the switch doesn't have."""
    running, startup, diff, pausing = answers
    blocks = blocks_of(running)
    if missing := [port for port in profile.ports if f"{PORT}{port}" not in blocks]:
        raise DialectError(
            f"it has no {', '.join(missing)}, which drawbridge_fabric.switches lists; correct ports there,"
            " or the breakout of the port"
        )
    for why in wrong_groups(blocks, profile):
        raise DialectError(why)
    sections = sections_of(blocks, profile)
    kept = sections_of(blocks_of(startup), profile)
    waits = _waiting(diff)
    ours = all(_is_ours(block, profile) for block in waits)
    return Config(
        sections=sections,
        saved=kept == sections,
        stale=(CANDIDATE,) if waits and ours else (),
        foreign=(CANDIDATE,) if waits and not ours else (),
        unproven=tuple(_unproven(pausing, profile)),
        own=kept,
    )


def _waiting(diff: str) -> list[list[str]]:
    """The blocks of `show diff`: header and lines. A `!` at the margin parts them, and indents may be missing."""
    chunks = [map(str.strip, chunk.splitlines()) for chunk in re.split(r"(?m)^!\s*$", diff)]
    blocks = [[line for line in chunk if line not in ("", "!")] for chunk in chunks]
    return [block for block in blocks if block]


def _is_ours(block: list[str], profile: SwitchProfile) -> bool:
    """Whether a run that ended half-way left this in the candidate: lines that Drawbridge types, no others."""
    header, *body = block
    spread = profile.ecmp and LEFT_OUT.fullmatch(f"no {header}")
    if spread or is_owned(header.removeprefix("no ")) or header.startswith(f"class {NAME}-"):
        return True
    wanted = {line.strip() for line in on_port("", _on_port(profile))}
    gone = [line for line in body if line not in wanted]
    return bool(_TYPED.fullmatch(header)) and all(
        line.startswith("no ") and is_owned_on_port(line[2:]) for line in gone
    )


def _unproven(pausing: str, profile: SwitchProfile) -> Iterator[str]:
    """Ports where the hardware does not pause exactly the lossless priorities."""
    shown: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in pausing.splitlines():
        if _PORT.fullmatch(line.strip()):
            fields = shown.setdefault(line.strip(), {})
        elif match := _FIELD.fullmatch(line):
            fields[match[1]] = match[2]
    wanted = " ".join(map(str, profile.lossless))
    for port in profile.ports:
        state = shown.get(port, {})
        works, priorities = (
            state.get("Operstatus", "not listed"),
            " ".join(re.findall(r"\d", state.get("PFC Priorities", ""))),
        )
        if (works, priorities) != ("true", wanted):
            yield f"{port} does not pause priority {wanted} alone (PFC {works}, priorities {priorities or 'none'})"


DIALECT = Dialect(
    device_type="dell_os10",
    prompt=r"(\([^)\n]*\))?#",
    opening=(),
    enables=False,
    refusal=r"^ *% ?Error.*",
    slow="commit|write",
    reads=(
        "show running-configuration",
        "show startup-configuration",
        "show diff candidate-configuration running-configuration",
        "show interface priority-flow-control details",
    ),
    parse=parse,
    render=render,
    state_reads=reads,
    releases=CAPABILITIES.releases,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save=SAVE,
    strategy=always(
        SavedStartup(
            # the lock ends with the connection; without it an edit of another session would commit half of this change
            change=lambda name, seconds, lines, _: (
                "lock",
                "start transaction",
                "configure terminal",
                *removed_last(lines),
                "end",
                "commit",
            ),
            abort=lambda _: "discard",
            roll_back=lambda _: "discard",
        )
    ),
)
