# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the API server's audit log to plain records. Pure; the gate's log is never read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.gate_names import CLOSED, GATE_ACCOUNTS, LABEL, NODE_ACCOUNTS
from roles.slurm_gate.files.gate.states import Owner, gate_taint
from tests.explorer.records import NEVER, PERSON, Change, Container, Pod, Right

Json = dict[str, Any]

TICK_S = 1.0
"""Kubelets report whole seconds."""
RUN = re.compile(r"slurm-[0-9]+-r([0-9]+)-")


def writes(lines: Iterable[str]) -> Iterator[Json]:
    """Writes that were carried out, in the order of their ends."""
    for line in lines:
        entry = json.loads(line)
        done = entry.get("responseStatus", {}).get("code", 500) < 300
        if entry["stage"] == "ResponseComplete" and done and "dryRun=" not in entry["requestURI"]:
            yield from _each(entry) if entry["verb"] == "deletecollection" else [entry]


def _each(entry: Json) -> Iterator[Json]:
    """The deletion of a collection as one of each object in it. The answer shows them as they were before it."""
    for item in entry.get("responseObject", {}).get("items") or []:
        metadata = {key: value for key, value in item["metadata"].items() if key != "resourceVersion"}
        at_once = {} if item["spec"].get("nodeName") else {"deletionGracePeriodSeconds": 0}
        shown = {
            **item,
            "kind": entry["responseObject"]["kind"].removesuffix("List"),
            "metadata": {**metadata, **at_once},
        }
        named = {**entry["objectRef"], "name": metadata["name"]}
        yield {**entry, "verb": "delete", "objectRef": named, "responseObject": shown}


def when(text: str) -> float:
    """Seconds since 1970."""
    return datetime.fromisoformat(text).timestamp()


def whole(entry: Json) -> Json:
    """The object that a write made; {} when the answer holds none, as that of a binding."""
    found = entry.get("responseObject", {})
    return found if "metadata" in found and found.get("kind") != "Status" else {}


def about(entries: Iterable[Json], resource: str) -> list[Json]:
    """Writes of one kind of object that show it whole, in the order in which they happened to each object.

    The answer to a deletion may come without a version; it is the last.
    """
    found = [it for it in entries if it["objectRef"]["resource"] == resource and "uid" in whole(it).get("metadata", {})]
    return sorted(found, key=lambda it: float(whole(it)["metadata"].get("resourceVersion", NEVER)))


def changes(entries: Iterable[Json], nodes: Sequence[str]) -> list[Change]:
    """Changes of nodes' states, beginning with closed ones."""
    shown = dict.fromkeys(nodes, CLOSED)
    found = []
    for entry in about(entries, "nodes"):
        node, body, swapped = entry["objectRef"]["name"], whole(entry), patched(entry, "replace")
        value = swapped or (gate_taint(body)[1] if "spec" in body else shown.get(node, ""))
        if node in shown and (swapped or shown[node] != value):
            label = body["metadata"].get("labels", {}).get(LABEL, "")
            before = patched(entry, "test") or shown[node]
            found.append(Change(when(entry["stageTimestamp"]), node, before, value, label, author(entry)))
            shown[node] = value
    return found


def author(entry: Json) -> str:
    """Which of the gate's identities wrote; any other writer is a person."""
    name = entry.get("impersonatedUser", entry["user"])["username"]
    own = next((name.removeprefix(start) for start in (GATE_ACCOUNTS, NODE_ACCOUNTS) if name.startswith(start)), "")
    return own or PERSON


def patched(entry: Json, verb: str) -> str:
    """The state that a compare and swap began with (test), or ended with (replace); "" for any other write."""
    patch = entry.get("requestObject")
    steps = [it for it in patch if it.get("op") == verb] if isinstance(patch, list) else []
    return next((str(it["value"]) for it in steps if it["path"].endswith("/value")), "")


def containers(entries: Iterable[Json]) -> list[Container]:
    """When containers of jobs' pods ran, as their kubelets reported."""
    found: dict[str, Container] = {}
    for entry in about(entries, "pods"):
        body, holder = whole(entry), job_of(entry)
        node, uid = body.get("spec", {}).get("nodeName"), body["metadata"]["uid"]
        if not (node and holder):
            continue
        said, at = [it.get("state", {}) for it in statuses(body)], when(entry["stageTimestamp"])
        starts = [min(when(text) + TICK_S, at) for text in filter(None, map(started, said))]
        if uid not in found and not starts:
            continue
        name = body["metadata"]["name"]
        run = RUN.match(name)
        known = found.get(uid) or Container(
            node, name, holder.namespace, holder.job, int(run.group(1)) if run else 0, min(starts)
        )
        over = all("terminated" in it for it in said) or forgotten(entry)
        found[uid] = known._replace(end=min(known.end, at)) if over else known
    return list(found.values())


def statuses(body: Json) -> list[Json]:
    """What a kubelet says of a pod's containers."""
    return body.get("status", {}).get("containerStatuses", [])


def started(said: Json) -> str:
    """When a container started; "" if it never did."""
    return (said.get("running") or said.get("terminated") or {}).get("startedAt") or ""


def forgotten(entry: Json) -> bool:
    """The pod's object is gone with this write: a kubelet's last word, or that of whoever forced it."""
    return entry["verb"] == "delete" and whole(entry)["metadata"].get("deletionGracePeriodSeconds", 1) == 0


def job_of(entry: Json) -> Owner | None:
    """The job that a pod runs for, by its account, which no user can choose."""
    body = whole(entry)
    return identity.owner(body["metadata"].get("namespace", ""), body.get("spec", {}).get("serviceAccountName", ""))


def name_of(entry: Json) -> str:
    """Namespace and name of the object that a write is about."""
    return f"{entry['objectRef']['namespace']}/{whole(entry)['metadata']['name']}"


def reason(entry: Json) -> str:
    """Why a pod is as its status says."""
    return whole(entry).get("status", {}).get("reason", "")


def bindings(entries: Iterable[Json]) -> dict[str, tuple[str, float, float]]:
    """By pod: the node that a scheduler bound it to, when it asked, and when that was done."""
    return {
        f"{it['objectRef']['namespace']}/{it['objectRef']['name']}": (
            it["requestObject"]["target"]["name"],
            when(it["requestReceivedTimestamp"]),
            when(it["stageTimestamp"]),
        )
        for it in entries
        if it["objectRef"].get("subresource") == "binding"
    }


def unbound(entries: Sequence[Json]) -> list[Pod]:
    """Pods of jobs while they had no node."""
    bound = bindings(entries)
    gone = {whole(it)["metadata"]["uid"]: when(it["stageTimestamp"]) for it in about(entries, "pods") if forgotten(it)}
    found = []
    for entry in about(entries, "pods"):
        holder, metadata = job_of(entry), whole(entry)["metadata"]
        if entry["verb"] == "create" and holder:
            done = bound.get(f"{holder.namespace}/{metadata['name']}", ("", 0.0, NEVER))[2]
            end = min(done, gone.get(metadata["uid"], NEVER))
            found.append(Pod(metadata["name"], holder.namespace, holder.job, when(entry["stageTimestamp"]), end))
    return found


def bound_late(entries: Sequence[Json], moves: Iterable[Change]) -> dict[str, float]:
    """Pods that a scheduler asked to bind to a node when no job held it any more, and how much later, in seconds."""
    moves = list(moves)
    found = {}
    for pod, (node, at, _) in bindings(entries).items():
        before = [move for move in moves if move.node == node and move.at < at]
        if before and not before[-1].label:
            found[pod] = at - before[-1].at
    return found


def accounts(entries: Iterable[Json]) -> list[Right]:
    """ServiceAccounts of jobs, from their creation to their end."""
    found: dict[str, Right] = {}
    over: list[Right] = []
    for entry in (it for it in entries if it["objectRef"]["resource"] == "serviceaccounts"):
        ref, at = entry["objectRef"], when(entry["stageTimestamp"])
        holder = identity.owner(ref["namespace"], ref.get("name", ""))
        if holder and entry["verb"] == "create":
            found[holder.held] = Right(holder.namespace, holder.job, ref["name"], at)
        elif holder and entry["verb"] == "delete" and holder.held in found:
            over.append(found.pop(holder.held)._replace(end=at))
    return [*over, *found.values()]
