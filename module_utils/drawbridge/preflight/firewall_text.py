# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a host's firewall lets a new TCP connection of another host pass, from the rules as tools print them.

Rules may ask for a source, an interface or a mark, which is not known here. Then the result is unknown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

OPEN, CLOSED, UNKNOWN = "open", "closed", "unknown"
ACCEPT, DROP, RETURN, JUMP, GOTO, QUEUE = "accept", "drop", "return", "jump", "goto", "queue"
ANY_END = frozenset({ACCEPT, DROP, RETURN})
LAST_PORT = 65535
Ports = Sequence["tuple[int, int]"]


@dataclass(frozen=True)
class Rule:
    """One rule that such a connection may meet."""

    verdict: str
    target: str = ""
    """The chain after jump and goto."""
    ports: Ports = ((0, LAST_PORT),)
    certain: bool = True
    """False: it has a condition that is not judged here."""


Chains = Mapping[str, "list[Rule]"]


@dataclass(frozen=True)
class Hook:
    """A chain that the kernel asks about each packet, and its verdict behind the last rule."""

    chain: str
    policy: str


def state(rules: str, port: int) -> str:
    """OPEN, CLOSED or UNKNOWN. `rules` has the output of `iptables -S`, `nft list ruleset` and firewall-cmd, in a row.

    Each chain that the kernel asks must accept. Without such a chain the port is open.
    """
    hooks, chains = _iptables(rules)
    tables = [*_tables(rules)]
    for table in tables:
        # nft prints the tables of iptables-nft, too
        if not (hooks and "chain INPUT" in table):
            more, theirs = _nft(table, f"nft{len(chains)} ")
            hooks, chains = [*hooks, *more], {**chains, **theirs}
    ends = [*(_judged(hook, chains, port) for hook in hooks), *([] if tables else _zones(rules, port))]
    return CLOSED if CLOSED in ends else UNKNOWN if UNKNOWN in ends else OPEN


def _judged(hook: Hook, chains: Chains, port: int) -> str:
    """Closed is proved: no rule that could match accepts. Open is proved by rules that surely match."""
    may, sure = (
        {hook.policy if end == RETURN else end for end in _ends(hook.chain, chains, port, certain)}
        for certain in (False, True)
    )
    return CLOSED if ACCEPT not in may else OPEN if sure == {ACCEPT} else UNKNOWN


def _ends(name: str, chains: Chains, port: int, certain: bool) -> frozenset[str]:
    """How a chain can end; `certain`: by rules that surely match."""
    ends: set[str] = set()
    for rule in chains.get(name, [Rule(QUEUE)]):
        if not any(low <= port <= high for low, high in rule.ports) or (certain and not rule.certain):
            continue
        if rule.verdict in (JUMP, GOTO):
            found = _ends(rule.target, chains, port, certain)
        else:
            found = ANY_END if rule.verdict == QUEUE else frozenset({rule.verdict})
        passes = rule.verdict == JUMP and RETURN in found
        ends |= found - {RETURN} if rule.verdict == JUMP else found
        if rule.certain and not passes:
            return frozenset(ends)
    return frozenset(ends | {RETURN})


# iptables -S

_AFTERWARDS = "AUDIT CONNMARK CONNSECMARK CT HMARK LOG MARK NFLOG NOTRACK SECMARK SET TCPMSS TRACE"
"""Targets behind which the next rule follows."""
_VERDICTS = {"ACCEPT": ACCEPT, "DROP": DROP, "REJECT": DROP, "RETURN": RETURN}
_JUDGED = ("addrtype", "comment", "conntrack", "multiport", "state", "tcp", "udp")
_LOCAL = re.compile(r"127\.[\d./]+|::1(/128)?")


def _iptables(rules: str) -> tuple[list[Hook], dict[str, list[Rule]]]:
    chains: dict[str, list[Rule]] = {name: [] for name in re.findall(r"^-[PN] (\S+)", rules, re.MULTILINE)}
    for line in rules.splitlines():
        if line.startswith("-A "):
            _add, chain, *words = shlex.split(line)
            chains.setdefault(chain, []).extend(_of_words(words))
    policies = re.findall(r"^-P INPUT (\w+)", rules, re.MULTILINE)
    return [Hook("INPUT", _VERDICTS.get(policy, QUEUE)) for policy in policies], chains


def _of_words(words: Sequence[str]) -> Iterator[Rule]:
    """The rule; nothing for one that no new TCP connection of another host meets."""
    ports: Ports = Rule.ports
    certain, rest = True, iter(words)
    for word in rest:
        negated = word == "!"
        key = next(rest) if negated else word
        if key in ("-j", "-g"):
            if found := _verdict(next(rest), key == "-g"):
                yield Rule(*found, ports=ports, certain=certain)
            return
        if key in ("--dport", "--dports"):
            ports = _ports(next(rest), negated)
            continue
        holds = _holds(key, rest)
        if holds is not None and holds == negated:
            return
        certain = certain and holds is not None


def _verdict(target: str, goto: bool) -> tuple[str, str] | None:
    if goto:
        return GOTO, target
    if target in _AFTERWARDS.split():
        return None
    return (_VERDICTS[target], "") if target in _VERDICTS else (JUMP, target)


def _holds(key: str, rest: Iterator[str]) -> bool | None:
    """Whether a condition holds; None: unknown. It takes its values from `rest`."""
    if key == "-m":
        return True if next(rest) in _JUDGED else None
    if key in ("--syn", "-f"):
        return key == "--syn"
    if key == "--tcp-flags":
        return _flags(next(rest), next(rest))
    if key not in ("-p", "-i", "-s", "--ctstate", "--state", "--comment", "--dst-type"):
        return None
    value = next(rest)
    if key == "-i":
        return False if value == "lo" else None
    if key == "-s":
        return False if _LOCAL.fullmatch(value) else None
    if key == "--comment":
        return True
    return bool({"tcp", "6", "all", "NEW", "LOCAL"} & set(value.split(",")))


def _flags(mask: str, wanted: str) -> bool:
    """Whether the first packet of a connection, which has SYN alone, has these flags."""
    return wanted.upper() == ("SYN" if {"SYN", "ALL"} & set(mask.upper().split(",")) else "NONE")


def _ports(text: str, negated: bool) -> Ports:
    pairs = re.findall(r"(\d+)(?:[-:](\d+))?", text)
    found = sorted((int(low), int(high or low)) for low, high in pairs)
    if not negated:
        return found
    edges = [-1, *(edge for pair in found for edge in pair), LAST_PORT + 1]
    return [(low + 1, high - 1) for low, high in zip(edges[::2], edges[1::2])]


# nft list ruleset

_TABLE = re.compile(r"table (\w+) \S+ \{")
_HOOK = re.compile(r"type filter hook input [^;]*;(?: policy (\w+);)?")
_VMAP = re.compile(r"(.*) vmap \{ (.*) \}")
_END = re.compile(r"(?:^| )(accept|drop|reject|return|continue|queue|jump|goto)(?: (\S+))?[^{}]*$")
_SILENT = re.compile(
    r'(?<!\S)(counter packets \d+ bytes \d+|counter( name \S+)?|comment "[^"]*"|meta nfproto ipv4'
    r'|log( prefix "[^"]*"| (level|group|snaplen|flags) \S+)*)(?!\S)'
)
_CONDITION = re.compile(
    r"(iif|iifname|ct state|ct status|meta l4proto|ip protocol|ip saddr|tcp dport|th dport|tcp flags) "
    r"(!=? )?(\{[^}]*\}|\S+ / \S+|\S+)"
)
_NUMBERS = re.compile(r"[-\d{}, ]+|type inet_service .*")
_OTHERS = re.compile(r"\b(udp|udplite|sctp|dccp|icmp|icmpv6|igmp|esp|ah) \w+")
"""Protocols that are not TCP."""


def _tables(rules: str) -> Iterator[dict[str, list[str]]]:
    """The tables that see IPv4: lines of their chains and sets, by kind and name."""
    table: dict[str, list[str]] | None = None
    block: list[str] | None = None
    for line in map(str.strip, rules.splitlines()):
        if match := _TABLE.fullmatch(line):
            table = {} if match[1] in ("ip", "inet") else None
        elif table is None:
            continue
        elif line.endswith("{"):
            block = table.setdefault(line[:-2], [])
        elif block is not None and line != "}":
            block.append(line)
        elif block is not None:
            block = None
        elif line == "}":
            yield table
            table = None


def _nft(table: Mapping[str, Sequence[str]], scope: str) -> tuple[list[Hook], dict[str, list[Rule]]]:
    """The hooks and chains of one table. `scope` tells its chains from those of others."""
    sets = {f"@{name[4:]}": " ".join(lines) for name, lines in table.items() if name.startswith("set ")}
    hooks, chains = [], {}
    for name, lines in table.items():
        if name.startswith("chain "):
            key = f"{scope}{name[6:]}"
            hooks += [Hook(key, match[1] or ACCEPT) for match in map(_HOOK.match, lines) if match]
            own = [line for line in lines if not line.startswith("type ")]
            chains[key] = [rule for line in own for rule in _of_line(line, scope, sets)]
    return hooks, chains


def _of_line(line: str, scope: str, sets: Mapping[str, str]) -> Iterator[Rule]:
    """The rules of a line: one, or one for each element of its verdict map."""
    line = " ".join(_SILENT.sub("", line).split())
    if match := _VMAP.fullmatch(line):
        for element in match[2].split(", "):
            value, _sep, verdict = element.partition(" : ")
            yield from _of_line(f"{match[1]} {value} {verdict}", scope, sets)
        return
    if " vmap @" in line:
        yield Rule(QUEUE, certain=False)
        return
    if _OTHERS.search(line) or not (end := _END.search(line)) or end[1] == "continue":
        return
    ports, certain = Rule.ports, not _CONDITION.sub("", line[: end.start()]).strip()
    for name, negated, value in _CONDITION.findall(line[: end.start()]):
        listed = sets.get(value, value)
        if name.endswith("dport") and _NUMBERS.fullmatch(listed):
            ports = _ports(listed, bool(negated))
            continue
        holds = None if name.endswith("dport") else _true(name, value)
        if holds is not None and holds == bool(negated):
            return
        certain = certain and holds is not None
    yield Rule(DROP if end[1] == "reject" else end[1], f"{scope}{end[2] or ''}", ports, certain)


def _true(name: str, value: str) -> bool | None:
    """Whether a condition holds; None: unknown."""
    words = set(re.findall(r"[\w./:*-]+", value))
    if name.startswith("iif"):
        return False if words == {"lo"} else None
    if name == "ip saddr":
        return False if all(map(_LOCAL.fullmatch, words)) else None
    if name == "ct status":
        return False  # the kernel has not changed the address of a connection to this port
    if name == "ct state":
        return "new" in words
    if name == "tcp flags":
        wanted, sep, mask = value.partition(" / ")
        return _flags(mask, wanted) if sep else None
    return "tcp" in words


# firewall-cmd --list-all-zones, for a firewalld without nft

_OTHER_SERVICES = {"ssh", "dhcpv6-client", "cockpit", "mdns", "samba-client"}


def _zones(rules: str, port: int) -> list[str]:
    """The ends of a connection in each zone that is in use."""
    _before, state, zones = rules.partition("state: running\n")
    if not state:
        return []
    blocks = [block.strip().partition("\n") for block in re.split(r"\n\s*\n", zones)]
    used = [fields for name, _sep, fields in blocks if re.search(r"\(.*(active|default)", name)]
    ends = {_in_zone(fields, port) for fields in used}
    return [*ends] if len(ends) == 1 else [UNKNOWN]


def _in_zone(fields: str, port: int) -> str:
    zone = dict(re.findall(r"^[ \t]*([\w -]+): *(.*)$", fields, re.MULTILINE))
    ports = _ports(" ".join(word for word in zone.get("ports", "").split() if word.endswith("/tcp")), False)
    if zone.get("target") == "ACCEPT" or any(low <= port <= high for low, high in ports):
        return OPEN
    others = set(zone.get("services", "").split()) - _OTHER_SERVICES
    return UNKNOWN if others or zone.get("protocols") or re.search(r"^\s*rule ", fields, re.MULTILINE) else CLOSED
