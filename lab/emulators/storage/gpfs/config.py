# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Attributes and node classes: values configured for nodes, and values that a daemon uses. Kernel modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ...common import DIE, DRIFT, LIE
from . import software
from .model import SYSTEM_CLASSES, Cluster, Failed
from .text import dated, header, row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import Cluster

CONFIG = "configParameter value nodeList"
DIAG = "name value changed"
CLASSES = "nodeClassName memberClasses memberNodes"
SHIFTS = {"k": 10, "m": 20, "g": 30, "t": 40}
SIZE = re.compile(r"([0-9]+)([kmgtKMGT])[bB]?")


class Attribute(NamedTuple):
    """An attribute: its default, whether -i works for it, and the words that mmdiag has for yes and no, if any."""

    default: str
    immediate: bool = False
    words: tuple[str, str] | None = None


YES, ENABLE, ONE = ("yes", "no"), ("enable", "disable"), ("1", "0")
ATTRIBUTES = {
    "adminMode": Attribute("central"),
    "autoBuildGPL": Attribute("no", words=YES),
    "autoload": Attribute("no", words=YES),
    "enableUIDremap": Attribute("no", words=ONE),
    "ignorePrefetchLUNCount": Attribute("no", immediate=True, words=ONE),
    "maxFilesToCache": Attribute("4000"),
    "maxMBpS": Attribute("2048", immediate=True),
    "maxStatCache": Attribute("1000"),
    "maxblocksize": Attribute("4M"),
    "numaMemoryInterleave": Attribute("no", words=YES),
    "pagepool": Attribute("1G", immediate=True),
    "pagepoolMaxPhysMemPct": Attribute("75"),
    "prefetchPct": Attribute("20"),
    "readReplicaPolicy": Attribute("default", immediate=True),
    "verbsPorts": Attribute(""),
    "verbsRdma": Attribute("disable", words=ENABLE),
    "verbsRdmaCm": Attribute("disable", words=ENABLE),
    "verbsRdmaRoCEToS": Attribute("-1", immediate=True),
    "verbsRdmaSend": Attribute("no", words=YES),
    "workerThreads": Attribute("48"),
}
POOL_IN_USE = (
    "6027-3960 The pagepool of a node that uses RDMA cannot be changed while GPFS runs."
    " Change it without the -i option and restart GPFS."
)


def mmlsconfig(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print the set attributes, by scope and as typed; named ones that are not set with their default."""
    names = [name for word in rest for name in word.split(",")]
    entries = [entry for entry in cluster.state["config"] if not names or entry["name"] in names]
    if "-Y" not in given:
        print(*_blocks(cluster, entries, names), sep="\n")
        return
    print(header("mmlsconfig", "", CONFIG))
    if not names:
        print(row("mmlsconfig", "", ("clusterName", cluster.state["name"], "")))
    for entry in entries:
        print(row("mmlsconfig", "", (entry["name"], entry["value"], ",".join(entry["scope"]))))
    unset = [name for name in names if not any(entry["name"] == name for entry in entries)]
    for name in unset:
        print(row("mmlsconfig", "", (name, ATTRIBUTES[name].default if name in ATTRIBUTES else "(undefined)", "")))


def _blocks(cluster: Cluster, entries: list[dict[str, Any]], names: list[str]) -> Iterable[str]:
    if names:
        for name in names:
            found = [entry for entry in entries if entry["name"] == name]
            for entry in found:
                yield f"{name} {entry['value']} {_scope(entry) if entry['scope'] else ''}".rstrip()
            if not found:
                yield f"{name} {ATTRIBUTES[name].default if name in ATTRIBUTES else '(undefined)'}"
        return
    title = f"Configuration data for cluster {cluster.state['name']}:"
    yield from (title, "-" * len(title), f"clusterName {cluster.state['name']}")
    for scope in dict.fromkeys(_scope(entry) for entry in entries):
        yield scope
        yield from (f"{entry['name']} {entry['value']}" for entry in entries if _scope(entry) == scope)


def _scope(entry: dict[str, Any]) -> str:
    return f"[{','.join(entry['scope']) or 'common'}]"


def mmchconfig(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Set attributes for all nodes, nodes or node classes; DEFAULT removes a setting. -i: now as well."""
    if not rest:
        raise Failed("Missing arguments.", "Usage: mmchconfig Attribute=value[,Attribute=value...] [-i | -I] [-N ...]")
    changes = dict(_assignment(text) for text in rest[0].split(","))
    scope = _scope_of(cluster, given["-N"]) if "-N" in given else []
    now = bool(given.keys() & {"-i", "-I"})
    for name in changes:
        if now and not ATTRIBUTES[name].immediate:
            raise Failed(f"The -i option is not supported for attribute {name}.")
    nodes = [name for name in cluster.nodes if not scope or cluster.in_scope(scope, name)]
    if now and "pagepool" in changes and any(_uses_rdma(cluster, name) for name in nodes):
        raise Failed(POOL_IN_USE)
    for name, value in cluster.half(list(changes.items())):
        _set(cluster, name, value, scope)
        if now:
            for node in nodes:
                cluster.state["daemons"][node].setdefault("effective", {})[name] = cluster.setting(name, node)
    if cluster.effect == DRIFT:
        _set(cluster, next(iter(changes)), "7", scope)
    print("mmchconfig: Command successfully completed")


def _assignment(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or name not in ATTRIBUTES:
        raise Failed(f"Unknown attribute: {name}")
    words = ATTRIBUTES[name].words
    if value != "DEFAULT" and words and value not in (*YES, *ENABLE):
        raise Failed(f"Invalid value {value} for attribute {name}.")
    return name, value


def _scope_of(cluster: Cluster, argument: str) -> list[str]:
    """Return classes as they are named, and the members that other words stand for."""
    if argument in cluster.state["classes"] or argument in SYSTEM_CLASSES:
        return [argument]
    return cluster.select(argument)


def _uses_rdma(cluster: Cluster, name: str) -> bool:
    daemon = cluster.state["daemons"][name]
    return daemon["state"] == "active" and daemon.get("effective", {}).get("verbsRdma") == "enable"


def _set(cluster: Cluster, name: str, value: str, scope: list[str]) -> None:
    kept = [entry for entry in cluster.state["config"] if (entry["name"], entry["scope"]) != (name, scope)]
    if value != "DEFAULT":
        kept.append({"name": name, "value": value, "scope": scope})
    cluster.state["config"][:] = kept


def mmdiag(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print what the daemon of this host uses, in plain numbers."""
    if rest or "--config" not in given:
        raise Failed("Incorrect option.", "Usage: mmdiag --config [-Y]")
    if cluster.state["daemons"][cluster.me]["state"] == "down":
        raise Failed("The GPFS daemon is not running on this node.")
    effective = cluster.state["daemons"][cluster.me].get("effective", {})
    rows = [
        (name, _plain(name, effective.get(name) or it.default), "static" if effective.get(name) else "")
        for name, it in ATTRIBUTES.items()
    ]
    if "-Y" in given:
        print(header("mmdiag", "config", DIAG))
        print(*(row("mmdiag", "config", fields) for fields in rows), sep="\n")
    else:
        print("", "=== mmdiag: config ===", sep="\n")
        print(*(f" {'!' if changed else ' '} {name} {value}" for name, value, changed in rows), sep="\n")


def _plain(name: str, value: str) -> str:
    if words := ATTRIBUTES[name].words:
        return words[0] if value in (YES[0], ENABLE[0]) else words[1]
    size = SIZE.fullmatch(value)
    return str(int(size.group(1)) << SHIFTS[size.group(2).lower()]) if size else value


def mmlsnodeclass(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print node classes and their members."""
    wanted = [name for word in rest for name in word.split(",")]
    if unknown := [name for name in wanted if name not in cluster.state["classes"]]:
        raise Failed(f"Node class {unknown[0]} does not exist.")
    system = {name: cluster.select(name) for name in SYSTEM_CLASSES} if given.keys() & {"--system", "--all"} else {}
    shown = {**system, **({} if "--system" in given else cluster.state["classes"])}
    rows = [(name, ",".join(members)) for name, members in shown.items() if not wanted or name in wanted]
    if "-Y" in given:
        print(header("mmlsnodeclass", "nodeclass", CLASSES))
        for name, members in rows:
            print(row("mmlsnodeclass", "nodeclass", (name, "", members)))
        return
    print("Node Class Name       Members", f"{'-' * 21} {'-' * 59}", sep="\n")
    for name, members in rows:
        print(f"{name:<21} {members}")


def mmcrnodeclass(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Create a node class."""
    if len(rest) != 1 or "-N" not in given:
        raise Failed("Missing arguments.", "Usage: mmcrnodeclass ClassName -N {Node[,Node...] | NodeFile | NodeClass}")
    if rest[0] in cluster.state["classes"] or rest[0] in SYSTEM_CLASSES:
        raise Failed(f"Node class {rest[0]} already exists.")
    cluster.state["classes"][rest[0]] = cluster.half(cluster.select(given["-N"]))
    if cluster.effect == DRIFT:
        cluster.state["classes"][rest[0]].pop()


def mmchnodeclass(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Add members to a node class, delete or replace them."""
    if len(rest) != 2 or rest[1] not in ("add", "delete", "replace") or "-N" not in given:
        raise Failed("Missing arguments.", "Usage: mmchnodeclass ClassName {add | delete | replace} -N {Node ...}")
    name, verb = rest
    if name not in cluster.state["classes"]:
        raise Failed(f"Node class {name} does not exist.")
    members, names = cluster.state["classes"][name], cluster.half(cluster.select(given["-N"]))
    kept = [] if verb == "replace" else [node for node in members if node not in names]
    members[:] = kept if verb == "delete" else [*kept, *names]
    if cluster.effect == DRIFT:
        members[:] = members[1:]


def mmdelnodeclass(cluster: Cluster, _given: dict[str, str], rest: list[str]) -> None:
    """Delete node classes that no attribute refers to."""
    for name in rest[0].split(",") if rest else ():
        if name not in cluster.state["classes"]:
            raise Failed(f"Node class {name} does not exist.")
        if any(name in entry["scope"] for entry in cluster.state["config"]):
            raise Failed(f"Node class {name} is used by configuration attributes.")
        del cluster.state["classes"][name]


RULE = "-" * 56


def mmbuildgpl(cluster: Cluster, given: dict[str, str], rest: list[str]) -> int:
    """Build and install the kernel modules."""
    if rest or "--build-package" in given:
        raise Failed("Incorrect option.", "Usage: mmbuildgpl [--quiet] [--build-package] [-v]")

    def framed(line: str) -> None:
        print(RULE, f"{line} {dated(cluster.now(), '')[:-2]}.", RULE, sep="\n")

    framed("mmbuildgpl: Building GPL module begins at")
    print("Verifying Kernel Header...", f"  kernel version = {software.kernel()}", sep="\n")
    print(f"  module include dir = {software.modules() / 'build/include'}", "Verifying Compiler...", sep="\n")
    if trouble := list(software.unbuildable(cluster.state["unsupported_kernels"])):
        print(*trouble, sep="\n")
        framed("mmbuildgpl: Building GPL module failed at")
        return 1
    print("make World ...", "make InstallImages ...", sep="\n")
    if cluster.effect != LIE:
        built_from = "0.0.0-0" if cluster.effect == DRIFT else software.release(cluster.state["version"])
        software.write_modules(built_from, software.MODULES[:1] if cluster.effect == DIE else software.MODULES)
    framed("mmbuildgpl: Building GPL module completed successfully at")
    return 0
