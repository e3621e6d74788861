# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS: the lines to type, by hier_config with rules for the owned lines. Only the controller imports this."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ....core.libraries import library
from ...plan import PORT, Lines
from .lines import PROFILE

if TYPE_CHECKING:
    import hier_config
    from hier_config import models
    from hier_config.platforms.driver_base import HConfigDriverBase
else:
    hier_config, models = library("hier_config"), library("hier_config.models")


def commands(have: Lines, want: Lines) -> list[str]:
    """The lines that lead one section from `have` to `want`: new values over old ones, `no` only to remove lines."""
    driver = _driver()
    work = hier_config.WorkflowRemediation(*(hier_config.get_hconfig(driver, "\n".join(it)) for it in (have, want)))
    return [line.cisco_style_text() for line in work.remediation_config.all_children_sorted()]


def stops(section: str, have: Lines, want: Lines) -> str:
    """A new MTU takes the link down for a moment, and PFC on a port takes headroom from the others. A new service
    profile does nothing before ports have it; an edit of one moves the buffers of all its ports."""
    if section == PROFILE:
        return f"an edit of {PROFILE} moves the buffers of all its ports at once" if have else ""
    if _only(have, "   mtu ") != _only(want, "   mtu "):
        return "a new MTU takes the links of {ports} down for a moment"
    pausing = ("   service-profile ", "   priority-flow-control ")
    return "a change of PFC moves the buffers of {ports}" if _only(have, pausing) != _only(want, pausing) else ""


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """EOS types ports one by one."""
    return tuple(line for name in names for line in (f"{PORT}{name}", *lines))


@cache
def _driver() -> HConfigDriverBase:
    """hier_config's EOS with rules for the owned lines, so that a value is replaced without a `no` before."""
    driver = hier_config.get_hconfig_driver(hier_config.Platform.ARISTA_EOS)
    one_value = [
        (r"^qos map (dscp|traffic-class) (\d+) ",),
        (r"^priority-flow-control pause watchdog (default \S+|action)",),
        (r"^ip load-sharing trident fields \S+",),
        ("^interface ", "^service-profile "),
        ("^interface ", "tx-queue", r"^random-detect ecn (minimum-threshold|count)"),
        (f"^{PROFILE}", "^qos trust"),
        (f"^{PROFILE}", "tx-queue", r"^(?:no )?priority"),
        (f"^{PROFILE}", "tx-queue", "^bandwidth percent"),
        (f"^{PROFILE}", "tx-queue", "^random-detect ecn"),
    ]
    for path in one_value:
        driver.rules.idempotent_commands.append(models.IdempotentCommandsRule(match_rules=_path(*path)))
    trust = _path("^interface ", "^(?:no )?qos trust")
    driver.rules.negate_with.append(models.NegationDefaultWithRule(match_rules=trust, use="default qos trust"))
    # EOS takes a share only for a queue that is no longer strict
    shares_last = _path(f"^{PROFILE}", "tx-queue", "^bandwidth percent")
    driver.rules.ordering.append(models.OrderingRule(match_rules=shares_last, weight=10))
    return driver


def _path(*patterns: str) -> tuple[models.MatchRule, ...]:
    return tuple(models.MatchRule(re_search=pattern) for pattern in patterns)


def _only(lines: Lines, start: str | tuple[str, ...]) -> set[str]:
    return {line for line in lines if line.startswith(start)}
