# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dell SmartFabric OS10: the lines to type, by hier_config with rules for the owned lines. Only the controller imports
this."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ....core import ports
from ....core.libraries import library
from ...plan import PORT, Lines
from .lines import LEFT_OUT, PAUSE

if TYPE_CHECKING:
    import hier_config
    from hier_config import models
    from hier_config.platforms.driver_base import HConfigDriverBase
else:
    hier_config, models = library("hier_config"), library("hier_config.models")

PAUSING = (" priority-flow-control ", " service-policy input ", " flowcontrol ")
_REMOVED = re.compile(r"no (policy-map|class-map|wred|trust dscp-map|qos-map traffic-class) .*")


def commands(have: Lines, want: Lines) -> list[str]:
    """The lines that lead one section from `have` to `want`: what goes, then what comes or changes."""
    if any(map(LEFT_OUT.fullmatch, have)):
        return [line.removeprefix("no ") for line in have]
    driver = _driver()
    work = hier_config.WorkflowRemediation(
        hier_config.get_hconfig(driver, "\n".join(have)), hier_config.get_hconfig(driver, "\n".join(want))
    )
    return [line.cisco_style_text() for line in work.remediation_config.all_children_sorted()]


def stops(section: str, have: Lines, want: Lines) -> str:
    """A new MTU takes the link down for a moment, and PFC on a port takes buffers from the others. A policy without
    ports does nothing; an edit of one that exists reaches all its ports."""
    if section == PAUSE:
        return "an edit of the PFC policy moves the buffers of all its ports at once" if have else ""
    if not section.startswith(PORT):
        return ""
    if _only(have, " mtu ") != _only(want, " mtu "):
        return "a new MTU takes the links of {ports} down for a moment"
    return "a change of PFC moves the buffers of {ports}" if _only(have, PAUSING) != _only(want, PAUSING) else ""


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """OS10 types ports side by side as a range, port-channels one by one. `exit` parts a port's lines from maps of the
    same name."""
    typed: list[str] = []
    for name in [name for name in names if not name.startswith("ethernet")]:
        typed += [f"{PORT}{name}", *lines, "exit"]
    physical = ports.compress([name for name in names if name.startswith("ethernet")])
    for part in filter(None, physical.split(",")):
        first, *_unused, last = ports.expand(part)[:1] + ports.expand(part)
        end = re.sub(r"^[a-z]+", "", last)
        typed += [f"{PORT}{first}" if first == last else f"{PORT}range {first}-{end}", *lines, "exit"]
    return tuple(typed)


def removed_last(lines: Lines) -> Lines:
    """The same lines, with blocks that go after the last line that may name them, users before what they use."""
    gone = [line for line in lines if _REMOVED.fullmatch(line)]
    return (*(line for line in lines if line not in gone), *sorted(gone, key=lambda line: "policy-map" not in line))


@cache
def _driver() -> HConfigDriverBase:
    """hier_config's generic driver with rules for the owned lines, so that a value is replaced without a `no`."""
    driver = hier_config.get_hconfig_driver(hier_config.Platform.GENERIC)
    one_value = [
        ("^wred ", r"^random-detect color \S+"),
        ("^class-map ", "^match "),
        ("^policy-map ", "^class ", r"^(bandwidth percent|pfc-cos|random-detect)"),
        ("^interface ", r"^(mtu|flowcontrol \S+|ets mode|qos-map traffic-class|trust-map dscp)"),
    ]
    for path in one_value:
        driver.rules.idempotent_commands.append(models.IdempotentCommandsRule(match_rules=_path(*path)))
    # OS10's own short forms
    for start, use in (
        (r"^(?:no )?priority-flow-control", "no priority-flow-control mode"),
        (r"^(?:no )?qos-map traffic-class", "no qos-map traffic-class"),
        (r"^(?:no )?trust-map dscp", "no trust-map dscp"),
        (r"^(?:no )?trust-map dot1p", "no trust-map dot1p"),
    ):
        rule = models.NegationDefaultWithRule(match_rules=_path("^interface ", start), use=use)
        driver.rules.negate_with.append(rule)
    return driver


def _path(*patterns: str) -> tuple[models.MatchRule, ...]:
    return tuple(models.MatchRule(re_search=pattern) for pattern in patterns)


def _only(lines: Lines, start: str | tuple[str, ...]) -> set[str]:
    return {line for line in lines if line.startswith(start)}
