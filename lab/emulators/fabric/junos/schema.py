# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The statements of Junos that a lossless class needs, and some beside them; `<...>` stands for a key or a value.

A pattern that ends with a value holds one, with `*` a list of them; one that ends with a word is switched on. From
Juniper's CLI reference (`class-of-service` on QFX, `congestion-notification-profile`, `drop-profiles`,
`forwarding-classes`, `pfc-priority`, `shared-buffer`) and the class of service of its AI fabric design. The bounds of
the watchdog's numbers are modelled. `forwarding-options`: its page enhanced-hash-key of the QFX5000 line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lab.emulators.fabric.switch import Refused

TOP = ("groups", "apply-groups", "system", "chassis", "interfaces", "forwarding-options", "class-of-service")
"""The order in which Junos prints its hierarchies."""
PATHS = """
apply-groups <word>*
system host-name <word>
system login user <word> class <word>
system services ssh
interfaces <word> description <word>
interfaces <word> mtu <int:256-9216>
interfaces <word> disable
interfaces <word> ether-options <one:flow-control|no-flow-control>
interfaces <word> ether-options 802.3ad <word>
interfaces <word> aggregated-ether-options <one:flow-control|no-flow-control>
interfaces <word> unit <int:0-16385> family inet address <word>
interfaces <word> unit <int:0-16385> family inet mtu <int:256-9202>
forwarding-options enhanced-hash-key hash-mode <one:layer2-header|layer2-payload>
forwarding-options enhanced-hash-key ecmp-resilient-hash
forwarding-options enhanced-hash-key <one:inet|inet6> no-l4-source-port
forwarding-options enhanced-hash-key <one:inet|inet6> no-l4-destination-port
forwarding-options enhanced-hash-key <one:inet|inet6> vlan-id
class-of-service classifiers <one:dscp|ieee-802.1> <word> import <word>
class-of-service classifiers dscp <word> forwarding-class <word> loss-priority <level> code-points <bits:6>*
class-of-service classifiers ieee-802.1 <word> forwarding-class <word> loss-priority <level> code-points <bits:3>*
class-of-service drop-profiles <word> interpolate fill-level <int:0-100>*
class-of-service drop-profiles <word> interpolate drop-probability <int:0-100>*
class-of-service forwarding-classes class <word> queue-num <int:0-11>
class-of-service forwarding-classes class <word> no-loss
class-of-service forwarding-classes class <word> pfc-priority <int:0-7>
class-of-service congestion-notification-profile <word> pfc-watchdog
class-of-service congestion-notification-profile <word> pfc-watchdog poll-interval <int:100-1000>
class-of-service congestion-notification-profile <word> pfc-watchdog detection <int:2-10>
class-of-service congestion-notification-profile <word> pfc-watchdog recovery <int:200-10000>
class-of-service congestion-notification-profile <word> pfc-watchdog watchdog-action <one:drop|forward>
class-of-service congestion-notification-profile <word> input cable-length <int:1-10000>
class-of-service congestion-notification-profile <word> input dscp code-point <bits:6> pfc
class-of-service congestion-notification-profile <word> input dscp code-point <bits:6> pfc mru <int:100-9216>
class-of-service congestion-notification-profile <word> input ieee-802.1 code-point <bits:3> pfc
class-of-service congestion-notification-profile <word> output ieee-802.1 code-point <bits:3> flow-control-queue <q>*
class-of-service interfaces <word> congestion-notification-profile <word>
class-of-service interfaces <word> scheduler-map <word>
class-of-service interfaces <word> forwarding-class-set <word> output-traffic-control-profile <word>
class-of-service interfaces <word> classifiers dscp <word>
class-of-service interfaces <word> unit <word> classifiers <one:dscp|ieee-802.1> <word>
class-of-service interfaces <word> unit <word> forwarding-class <word>
class-of-service interfaces <word> unit <word> rewrite-rules dscp <word>
class-of-service scheduler-maps <word> forwarding-class <word> scheduler <word>
class-of-service schedulers <word> transmit-rate percent <int:1-100>
class-of-service schedulers <word> shaping-rate percent <int:1-100>
class-of-service schedulers <word> buffer-size percent <int:0-100>
class-of-service schedulers <word> buffer-dynamic-threshold <int:0-10>
class-of-service schedulers <word> priority <one:low|strict-high>
class-of-service schedulers <word> explicit-congestion-notification
class-of-service schedulers <word> drop-profile-map loss-priority <level> protocol any drop-profile <word>
class-of-service shared-buffer <one:ingress|egress> buffer-partition <word> percent <int:0-100>
class-of-service shared-buffer <one:ingress|egress> buffer-partition <word> dynamic-threshold <int:0-10>
""".replace("<level>", "<one:low|medium-high|high|any>").replace("<q>", "<int:0-11>")
_WORD = re.compile(r'"[^"]*"|\S+')
SYNTAX = "              ^\nsyntax error."


@dataclass(frozen=True)
class Leaf:
    """A statement as its pattern sees it."""

    listed: bool
    """It is one of several values."""
    valued: bool
    elements: tuple[int, ...]
    """How many words name each object around it, such as a scheduler; Junos keeps such an object when it is empty."""

    @property
    def single(self) -> bool:
        """Whether a new value takes the place of the old one."""
        return self.valued and not self.listed


def split(line: str) -> list[str]:
    """Return the words of a line; a text in quotes is one."""
    return _WORD.findall(line)


def leaf(words: list[str]) -> Leaf:
    """Return the statement that words make. Raises Refused with what Junos prints."""
    skipped = 2 if words[:1] == ["groups"] else 0
    for pattern in (line.split() for line in PATHS.splitlines() if line):
        own = words[skipped:]
        if len(own) != len(pattern) or not all(_literal(kind, word) for kind, word in zip(pattern, own, strict=True)):
            continue
        for kind, word in zip(pattern, own, strict=True):
            _check(kind.rstrip("*"), word)
        last = pattern[-1]
        inner = range(1, len(pattern) - 1)
        keys = [at + 1 + skipped for at in inner if pattern[at].startswith("<") and not pattern[at].startswith("<one")]
        return Leaf(last.endswith("*"), last.startswith("<"), tuple(keys))
    raise Refused(SYNTAX)


def _literal(kind: str, word: str) -> bool:
    if kind.startswith("<one:"):
        return word in kind.strip("<>").partition(":")[2].split("|")
    return kind.startswith("<") or kind == word


def _check(kind: str, word: str) -> None:
    name, _, rest = kind.strip("<>").partition(":")
    if not kind.startswith("<") or word.startswith("<"):
        return
    if name == "bits" and not re.fullmatch(rf"[01]{{{rest}}}", word):
        raise Refused(f"error: invalid value: {word}")
    if name == "int":
        low, high = (int(bound) for bound in rest.split("-"))
        if not word.isdigit() or not low <= int(word) <= high:
            raise Refused(f"error: Value {word} is not within range ({low}..{high})")
