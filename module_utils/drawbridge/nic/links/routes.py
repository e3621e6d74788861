# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules and routes that send packets from a rail's address through that rail."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

FIRST, LAST = "first", "last"
FIELDS = (("via", "gateway"), ("dev", "dev"), ("scope", "scope"), ("src", "prefsrc"))
"""Words of `ip route` and their keys in its JSON."""
STATIC = "protocol static"
"""Who made it, as systemd-networkd says too: the kernel takes a rule of another maker beside the same one."""


@dataclass(frozen=True)
class Rail:
    """A device's own routing table, which is also the priority of its rule, and the gateway of its subnet."""

    table: int
    gateway: str = ""


@dataclass(frozen=True)
class Routing:
    """Rules and routes in the words of `ip rule` and `ip route`. Routes are by destination and table."""

    rules: tuple[str, ...] = ()
    routes: tuple[tuple[str, str], ...] = ()

    def lines(self) -> list[str]:
        """Commands of ip that make them."""
        rules = [f"ip rule add {words} {STATIC}" for words in self.rules]
        return [*(f"ip route replace {key} {words} {STATIC}" for key, words in self.routes), *rules]

    def networkd(self) -> str:
        """The same as sections of systemd-networkd."""
        text = ""
        for key, words in self.routes:
            destination, _unused, table = key.split()
            said = dict(zip(words.split()[::2], words.split()[1::2]))
            lines = [f"Gateway={said['via']}"] if "via" in said else [f"Destination={destination}", "Scope=link"]
            text += "\n".join(["[Route]", *lines, f"PreferredSource={said['src']}", f"Table={table}", "", ""])
        for words in self.rules:
            _unused, priority, _unused, source, _unused, table = words.split()
            text += f"[RoutingPolicyRule]\nFrom={source}\nTable={table}\nPriority={priority}\n"
        return text


NO_ROUTES = Routing()


@dataclass(frozen=True)
class Change:
    """One command of ip, without the program's name, and the state after it."""

    reason: str
    argv: tuple[str, ...]
    after: Routing


def routing(name: str, address: str, rail: Rail) -> Routing:
    """Of one device. `address` has its prefix; without one there is nothing to route."""
    if not address:
        return Routing()
    own = ipaddress.IPv4Interface(address)
    routes = [(f"{own.network} table {rail.table}", f"dev {name} scope link src {own.ip}")]
    if rail.gateway:
        ends = own.network.network_address, own.network.broadcast_address
        inner = (0, 0) if own.network.prefixlen == 31 else (1, -1)
        via = ends[0] + inner[0] if rail.gateway == FIRST else ends[1] + inner[1]
        routes.append((f"default table {rail.table}", f"via {via} dev {name} src {own.ip}"))
    return Routing((f"priority {rail.table} from {own.ip} lookup {rail.table}",), tuple(routes))


def changes(have: Routing, rails: Mapping[str, Routing], off: Collection[str]) -> Iterator[Change]:
    """What differs. A rail's rule follows its routes, and an old rule goes last, so that no packet finds no route.

    A device that is `off` takes no routes.
    """
    now, there = Counter(have.rules), dict(have.routes)
    goal = dict(pair for want in rails.values() for pair in want.routes)

    def change(reason: str, *words: str) -> Change:
        after = Routing(tuple(sorted(now.elements())), tuple(sorted(there.items())))
        return Change(reason, tuple(" ".join(words).split()), after)

    for name, want in rails.items():
        for key, words in want.routes:
            if there.get(key) != words and name not in off:
                there[key] = words
                yield change(f"{name}: add route {key} {words}", "route replace", key, words, STATIC)
        for rule in want.rules:
            if not now[rule]:
                now[rule] += 1
                yield change(f"{name}: add rule {rule}", "rule add", rule, STATIC)
    for rule in (now - Counter(rule for want in rails.values() for rule in want.rules)).elements():
        now[rule] -= 1
        yield change(f"remove rule {rule}", "rule del", rule)
    for key in [key for key in there if key not in goal]:
        yield change(f"remove route {key} {there.pop(key)}", "route del", key)


def foreign(have: Routing, names: Iterable[str]) -> str:
    """A rule or route with a number of a rail that Drawbridge can't have made; "" for none."""
    for rule in have.rules:
        words = rule.split()
        if len(words) != 6 or words[1] != words[5]:
            return f"rule {rule}"
    devices = {f"dev {name}" for name in names}
    others = (
        f"route {key} {words}" for key, words in have.routes if not any(f"{it} " in f"{words} " for it in devices)
    )
    return next(others, "")


def own_gateway(rails: Mapping[str, Routing]) -> str:
    """A device whose address is the gateway of its subnet; "" for none."""
    return next((name for name, it in rails.items() for _unused, words in it.routes if _is_own(words.split())), "")


def _is_own(words: list[str]) -> bool:
    return words[0] == "via" and words[1] == words[-1]


def address(listed: Iterable[Mapping[str, object]]) -> str:
    """The first IPv4 address that has a subnet, with its prefix, from addr_info of `ip -j addr`; "" for none."""
    for it in listed:
        if it["family"] == "inet" and it["scope"] == "global" and int(str(it["prefixlen"])) < 32:
            return f"{it['local']}/{it['prefixlen']}"
    return ""


def rules(listed: Iterable[Mapping[str, object]], tables: Iterable[int]) -> tuple[str, ...]:
    """Rules with these priorities, from `ip -N -j rule show`. What ours never have follows in JSON's words."""
    ours = {str(table) for table in tables}
    found = []
    for it in listed:
        if str(it["priority"]) in ours:
            source = f"{it['src']}/{it['srclen']}" if "srclen" in it else it["src"]
            rest = [f"{key} {it[key]}" for key in it if key not in ("priority", "src", "srclen", "table", "protocol")]
            found.append(" ".join([f"priority {it['priority']} from {source} lookup {it.get('table', '-')}", *rest]))
    return tuple(sorted(found))


def routes(listed: Iterable[Mapping[str, object]], tables: Iterable[int]) -> tuple[tuple[str, str], ...]:
    """Routes of these tables, from `ip -N -j route show table all`."""
    ours = {str(table) for table in tables}
    found = []
    for it in listed:
        if it.get("table") in ours:
            metric = f" metric {it['metric']}" if "metric" in it else ""
            words = {word: it[key] for word, key in FIELDS if key in it}
            if words.get("scope") == "253":
                words["scope"] = "link"
            text = " ".join(f"{word} {value}" for word, value in words.items())
            found.append((f"{it['dst']} table {it['table']}{metric}", text))
    return tuple(sorted(found))
