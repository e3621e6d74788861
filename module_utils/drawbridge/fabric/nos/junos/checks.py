# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: what the site must correct before a change, commits that wait, and what the switch really applied."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import SwitchProfile
from .lines import CLASSES, CNP, COS, NAME, ROOTS, Statements, classes, queue, within

_ENTRY = re.compile(r"0 +\S+ \S+ \S+ by (\S+) via .*commit confirmed, rollback in .*")
_EMPTY = re.compile(rf"{COS} shared-buffer (ingress|egress) buffer-partition lossless(?:-headroom)? percent 0")
_QUEUED = re.compile(rf"{COS} forwarding-classes class (\S+) queue-num (\d+)")
_PORT = re.compile(r"Physical interface: ([^,\s]+)")
_APPLIED = {
    "scheduler map": re.compile(r"Scheduler map: ([^,\s]+)"),
    "congestion notification profile": re.compile(r"Congestion-notification: (?:Enabled, Name: )?([^,\s]+)"),
    "classifier": re.compile(r"Classifier +(\S+) +dscp\b(?!-)"),
}
"""What Junos says of each port that it applied."""


def unfit(config: Statements, applied: dict[str, str], profile: SwitchProfile) -> Iterator[str]:
    """What the site must correct first, each as a sentence with the repair."""
    if not any(within(line, "system") for line in config.lines):
        yield "it printed no configuration; give the login a class with the permission view-configuration"
    bundles = {line.split()[1]: line.split()[-1] for line in config.lines if " ether-options 802.3ad " in line}
    for port in profile.ports:
        if port in bundles:
            yield f"{port} is in {bundles[port]}, which has the class; list {bundles[port]} in ports instead"
        elif port not in applied:
            yield (
                f"it has no {port}, which drawbridge_fabric.switches lists; correct ports there, or insert the"
                " transceiver"
            )
    roots = [root.rpartition(" ")[0] for paths in ROOTS.values() for root in paths]
    roots += [f"{start}interfaces {port}" for start in ("", f"{COS} ") for port in profile.ports]
    if off := [path for path in config.off if any(within(root, path) for root in roots)]:
        yield f"{off[0]} is deactivated in its configuration; activate it on the switch with: activate {off[0]}"
    yield from _without_buffer(config)
    yield from _crowded(config, profile)
    divided = [line for line in config.lines if within(line, f"{COS} shared-buffer egress")]
    if divided and not profile.queue_buffer_bytes:
        yield (
            f"its configuration has {divided[0]!r}, so that ECN thresholds can't be taken from the ASIC's own division;"
            " add queue_buffer_bytes to its entry in drawbridge_fabric.switches"
        )


def _without_buffer(config: Statements) -> Iterator[str]:
    """Partitions of lossless traffic that the site's configuration leaves empty."""
    for line in config.lines:
        if match := _EMPTY.fullmatch(line):
            yield (
                f"its configuration has {line!r}, so that lossless traffic has no {match[1]} buffer; give the partition"
                " a share on the switch"
            )


def _crowded(config: Statements, profile: SwitchProfile) -> Iterator[str]:
    """Forwarding classes of the site on a queue of Drawbridge's: those of one queue are all lossless, or none is."""
    own = {queue(name, profile): name for name in classes(profile)}
    lossless = {name for name, part in classes(profile).items() if name != CNP and part.priority in profile.lossless}
    for match in filter(None, map(_QUEUED.fullmatch, config.lines)):
        name, there = match[1], own.get(int(match[2]), "")
        kept = f"{COS} forwarding-classes class {name} no-loss" in config.lines
        if there and name not in CLASSES and kept is not (there in lossless):
            kinds = ("lossless", "lossy") if there in lossless else ("lossy", "lossless")
            yield (
                f"its forwarding class {name} is {kinds[1]} and has queue {match[2]}, which {there} has too as a"
                f" {kinds[0]} class; give {name} another queue on the switch"
            )


def waiting(answer: str) -> tuple[str, str]:
    """User and comment of the newest commit, if it waits; an old one keeps the words "commit confirmed"."""
    lines = [line.rstrip() for line in answer.splitlines()]
    for at, line in enumerate(lines):
        if match := _ENTRY.fullmatch(line.strip()):
            below: list[str] = []
            for text in lines[at + 1 :]:
                if re.match(r" *\d+ +\d{4}-", text):
                    break
                below.append(text.strip())
            said = [text for text in below if text and text != "rollback pending"]
            return (match[1], "".join(said[:1])) if "rollback pending" in below else ("", "")
    return "", ""


def applied_to(answer: str) -> dict[str, str]:
    """What `show class-of-service interface` says of each port."""
    starts = [*_PORT.finditer(answer)]
    ends = [*(it.start() for it in starts[1:]), len(answer)]
    return {match[1]: answer[match.start() : end] for match, end in zip(starts, ends)}


def unproven(applied: dict[str, str], profile: SwitchProfile) -> Iterator[str]:
    """Ports where Junos has not applied what the configuration binds to them."""
    for port in profile.ports:
        for what, pattern in _APPLIED.items():
            wrong = [name for name in pattern.findall(applied.get(port, "")) if name != NAME]
            if wrong:
                yield f"{port} does not use {NAME}, but has {wrong[0]} as its {what}"
                break
