# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State checks of a node's rails by ethtool: optics, errors and drops.

Most counters are totals since boot. A healthy port has some from its installation, so the rules allow a first amount.
Drops in the lossless priority have no such allowance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable

from ...nodes.port_counters import priorities
from ..measure import Found, Missing, Remark
from ..node import ProofNode, ProofRail
from ..tools import ethtool_text
from ..tools.output import not_recognised, stopped
from .check import STATE, Check, Output, Program, Texts
from .state_rails import files_of, has_rails, netdev_file, port_file, rail_name, unread
from .tools import program

OPTICS, ERRORS, DROPS, NOT_COUNTED = "optics", "rail errors", "rail drops", "not counted"
SECONDS = 20
"""Modules are read over a slow bus."""
AT_BRING_UP, AN_HOUR = 10_000, 120
"""Symbols or blocks lost while a link comes up, and for each hour since boot. 120 an hour is a published limit."""
FALLS, FALLS_A_DAY = 10, 1
"""Times that a link may go down: while switches are set up, and for each day since boot."""


def _ethtool(*words: str) -> Callable[[ProofNode], Sequence[Program]]:
    return lambda node: [program(["ethtool", *words, rail.netdev], SECONDS) for rail in node.rails]


def _optics(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    found: list[Found] = []
    notes: dict[str, list[int]] = {}
    for number, output in enumerate(outputs):
        where = rail_name(node, number)
        if output.code and ethtool_text.NOT_SUPPORTED in output.stderr:
            notes.setdefault("the driver can't read the module", []).append(number)
            continue
        try:
            module = ethtool_text.module(output.stdout)
        except ValueError:
            why = stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr)
            found.append(Missing(OPTICS, where, why))
            continue
        if not module.optics:
            what = "copper has no optics" if module.copper else f"the module ({module.kind}) measures no light"
            notes.setdefault(what, []).append(number)
        found += [Remark(OPTICS, where, f"alarm of the module: {text}") for text in module.alarms]
        found += [Remark(OPTICS, where, f"warning of the module: {text}", warning=True) for text in module.warnings]
    # the same sentence on each node of a class: a report shows it once
    of_class = f"class {node.node_class}"
    said = [Remark(OPTICS, of_class, f"rails {_listed(at)}: {why}", warning=True) for why, at in notes.items()]
    return [*found, *said]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


_SYMBOLS = ("rx_pcs_symbol_err_phy", "rx_symbol_err_phy", "rx_crc_errors_phy", "rx_pcs_symbol_err", "rx_crc_errors.nic")
_SYMBOLS_OF_PORT = ("symbol_error", "link_error_recovery", "local_link_integrity_errors", "port_rcv_errors")


def _errors(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    """Outputs are those of -S for all rails, then those of --show-fec."""
    uptime = re.match(r"(\d+(?:\.\d+)?) ", texts.get("/proc/uptime", ""))
    if not uptime:
        return [unread(ERRORS, node.name, "/proc/uptime", texts)]
    hours, count = float(uptime[1]) / 3600, len(node.rails)
    found: list[Found] = []
    for number, rail in enumerate(node.rails):
        where = rail_name(node, number)
        totals: dict[str, int] = {}
        for one in (_statistics(ERRORS, where, outputs[number]), _blocks(where, outputs[count + number])):
            if isinstance(one, Missing):
                found.append(one)
            else:
                totals.update(one)
        found += _too_many(where, totals, rail, texts, hours)
    return found


def _statistics(name: str, where: str, output: Output) -> Mapping[str, int] | Missing:
    try:
        if not output.code:
            return ethtool_text.counters(output.stdout)
    except ValueError:
        pass
    return Missing(name, where, stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr))


def _blocks(where: str, output: Output) -> Mapping[str, int] | Missing:
    """Not all drivers and cables have forward error correction."""
    if output.code and ethtool_text.NOT_SUPPORTED in output.stderr:
        return {}
    try:
        count = ethtool_text.uncorrectable_blocks(output.stdout)
    except ValueError:
        why = stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr)
        return Missing(ERRORS, where, why)
    return {} if count is None else {_BLOCKS: count}


_BLOCKS = "uncorrectable_blocks"


def _too_many(where: str, totals: Mapping[str, int], rail: ProofRail, texts: Texts, hours: float) -> Iterator[Found]:
    counts = {key: totals[key] for key in (*_SYMBOLS, _BLOCKS) if key in totals}
    port = {
        key: texts[path].strip() for key in _SYMBOLS_OF_PORT if (path := port_file(rail, f"counters/{key}")) in texts
    }
    counts.update({key: int(text) for key, text in port.items() if text.isdigit()})
    falls = texts.get(netdev_file(rail, "carrier_down_count"), "").strip() or texts.get(
        port_file(rail, "counters/link_downed"), ""
    )
    most, most_falls = AT_BRING_UP + AN_HOUR * hours, FALLS + FALLS_A_DAY * hours / 24
    for name, count in counts.items():
        if count > most:
            yield Remark(ERRORS, where, f"{name} is {count}, {hours:.0f} hours after boot at most {most:.0f}")
    if not falls.strip().isdigit():
        yield Missing(ERRORS, where, f"neither {rail.netdev} nor {rail.rdma} counts how often its link went down")
    elif int(falls) > most_falls:
        yield Remark(
            ERRORS,
            where,
            f"its link went down {int(falls)} times, {hours:.0f} hours after boot at most {most_falls:.0f}",
        )


def _drops(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    found: list[Found] = []
    uncounted: list[int] = []
    for number, output in enumerate(outputs):
        where = rail_name(node, number)
        read = _statistics(DROPS, where, output)
        if isinstance(read, Missing):
            found.append(read)
            continue
        of_priority = priorities(output.stdout).get(str(node.priority), {})
        drops = {f"{name} of priority {node.priority}": of_priority[name] for name in of_priority if "discard" in name}
        if not drops:
            uncounted.append(number)
        ignored = texts.get(port_file(node.rails[number], _IGNORED), "").strip()
        counts = {**drops, **{name: read.get(name, 0) for name in _STORMS}}
        counts["rp_cnp_ignored"] = int(ignored) if ignored.isdigit() else 0
        found += [
            Remark(DROPS, where, f"{name} is {count} since boot, not 0") for name, count in counts.items() if count
        ]
    if uncounted:
        why = f"rails {_listed(uncounted)}: the driver does not count drops of priority {node.priority}"
        found.append(Remark(NOT_COUNTED, f"class {node.node_class}", why, warning=True))
    return found


_STORMS = ("tx_pause_storm_error_events",)
_IGNORED = "hw_counters/rp_cnp_ignored"


def _statistics_and_blocks(node: ProofNode) -> Sequence[Program]:
    return [*_ethtool("-S")(node), *_ethtool("-I", "--show-fec")(node)]


PORT_CHECKS: tuple[Check, ...] = (
    Check(
        OPTICS,
        STATE,
        "The module of a port reports an alarm: clean or replace fibre and module; if it is hot, look at the airflow.",
        "Rails",
        has_rails,
        _optics,
        programs=_ethtool("-m"),
    ),
    Check(
        ERRORS,
        STATE,
        "A port lost many symbols or blocks, or its link went down often: replace the cable, then the module.",
        "Rails",
        has_rails,
        _errors,
        programs=_statistics_and_blocks,
        files=lambda node: [
            "/proc/uptime",
            *files_of(
                lambda rail: netdev_file(rail, "carrier_down_count"),
                lambda rail: port_file(rail, "counters/link_downed"),
                *(lambda rail, name=name: port_file(rail, f"counters/{name}") for name in _SYMBOLS_OF_PORT),
            )(node),
        ],
    ),
    Check(
        DROPS,
        STATE,
        "Packets of the lossless priority were dropped, or a port ignored congestion: compare QoS of NIC and switch.",
        "Rails",
        lambda node: has_rails(node) and node.priority >= 0,
        _drops,
        programs=_ethtool("-S"),
        files=files_of(lambda rail: port_file(rail, _IGNORED)),
    ),
)
