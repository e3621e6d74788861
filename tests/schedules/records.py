# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the API server's audit log and Slurm's own books to plain records. Pure; the gate's log is never read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.gate_names import CLOSED, GATE_ACCOUNTS, LABEL, NODE_ACCOUNTS
from roles.slurm_gate.files.gate.hostlist import expand
from roles.slurm_gate.files.gate.states import Owner, gate_taint
from tests.explorer.records import NEVER, PERSON, Account, Change, Container, Drain, Pod, Run, Trouble
from tests.schedules.plan import POWER, SLURMCTLD_KILLED

Json = dict[str, Any]

SACCT = "JobIDRaw,JobID,Partition,Account,State,Start,End,NodeList"
EVENTS = "NodeName,TimeStart,TimeEnd,Reason"
TICK_S = 1.0
"""Slurm and kubelets tell whole seconds."""
FORGETS_S = 10.0
"""What a slurmctld that is killed may not have written down yet."""
LAUNCHED = re.compile(r"^([0-9.]+) .*: Launching batch job ([0-9]+) for UID", re.MULTILINE)
"""What slurmd says in the journal, with --output=short-unix."""
EPILOG = re.compile(r"^([0-9.]+) (\S+) \S+: job=([0-9]+) kind=epilog part=\S+ rc=\S+ seconds=([0-9.]+)$", re.MULTILINE)
"""What the dispatcher says there of a part of the epilog; slurmd calls it once nothing of the job is left there."""
FORGOTTEN = "FORGOTTEN"
"""How a job ended that accounting has running, and slurmctld does not know."""
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
    """Which of the gate's identities wrote; anybody else is a person."""
    name = entry.get("impersonatedUser", entry["user"])["username"]
    own = next((name.removeprefix(start) for start in (GATE_ACCOUNTS, NODE_ACCOUNTS) if name.startswith(start)), "")
    return own or PERSON


def patched(entry: Json, verb: str) -> str:
    """The state that a compare and swap began with (test), or ended with (replace); "" for any other write."""
    patch = entry.get("requestObject")
    steps = [it for it in patch if it.get("op") == verb] if isinstance(patch, list) else []
    return next((str(it["value"]) for it in steps if it["path"].endswith("/value")), "")


def containers(entries: Iterable[Json], cuts: Sequence[Trouble]) -> list[Container]:
    """When containers of jobs' pods ran, as their kubelets said. What ran on a host without power ended with it."""
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
    return [it._replace(end=min([it.end, *_cut(it, cuts)])) for it in found.values()]


def _cut(it: Container, cuts: Sequence[Trouble]) -> list[float]:
    return [cut.start for cut in cuts if cut.node == it.node and cut.start > it.start]


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
    """The job that a pod runs for, told by its account, which nobody can choose."""
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


def accounts(entries: Iterable[Json]) -> list[Account]:
    """ServiceAccounts of jobs, from their creation to their end."""
    found: dict[str, Account] = {}
    over: list[Account] = []
    for entry in (it for it in entries if it["objectRef"]["resource"] == "serviceaccounts"):
        ref, at = entry["objectRef"], when(entry["stageTimestamp"])
        holder = identity.owner(ref["namespace"], ref.get("name", ""))
        if holder and entry["verb"] == "create":
            found[holder.held] = Account(holder.namespace, holder.job, at)
        elif holder and entry["verb"] == "delete" and holder.held in found:
            over.append(found.pop(holder.held)._replace(end=at))
    return [*over, *found.values()]


def strangers(entries: Sequence[Json], nodes: Sequence[str]) -> list[str]:
    """Pods that are no job's and were given a gated node."""
    own = {f"{it.namespace}/{it.name}" for it in unbound(entries)}
    given = {pod: node for pod, (node, _, _) in bindings(entries).items() if pod not in own}
    return [f"pod {pod} was bound to {node}" for pod, node in given.items() if node in nodes]


def launches(journal: str) -> dict[int, list[float]]:
    """When slurmd started the batch scripts of jobs."""
    found: dict[int, list[float]] = {}
    for at, job in LAUNCHED.findall(journal):
        found.setdefault(int(job), []).append(float(at))
    return found


def epilogs(journal: str) -> dict[tuple[str, int], list[float]]:
    """When slurmds were through with a job's processes, by node and job."""
    found: dict[tuple[str, int], list[float]] = {}
    for at, node, job, lasted in EPILOG.findall(journal):
        found.setdefault((node, int(job)), []).append(float(at) - float(lasted))
    return found


def forgot(troubles: Iterable[Trouble], start: float) -> float:
    """When slurmctld was killed and forgot a job that had started before; accounting then has it running for ever."""
    return min((it.end for it in troubles if it.what == SLURMCTLD_KILLED and it.end >= start), default=NEVER)


def runs(
    accounting: str,
    launched: Mapping[int, Sequence[float]],
    emptied: Mapping[tuple[str, int], Sequence[float]],
    spaces: Mapping[tuple[str, str], str],
    troubles: Sequence[Trouble],
) -> list[Run]:
    """Runs of jobs, from `sacct --duplicates -nP` with SACCT and times in seconds since 1970.

    `launched` and `emptied` are what slurmds did, from their journals; `spaces` are the namespaces of gated jobs, by
    partition and account.
    """
    found: list[Run] = []
    counted: dict[int, int] = {}
    for row in (it for it in rows(accounting) if it["JobIDRaw"].isdigit() and it["Start"].isdigit()):
        job, start, end = int(row["JobIDRaw"]), float(row["Start"]), seconds(row["End"])
        over = forgot(troubles, start) if end == NEVER else end
        nodes = tuple(expand(row["NodeList"])) if row["NodeList"] != "None assigned" else ()
        run = Run(
            job,
            counted.get(job, 0),
            spaces.get((row["Partition"], row["Account"]), ""),
            nodes,
            start,
            min((at for at in launched.get(job, ()) if start <= at <= over + TICK_S), default=NEVER),
            over,
            over,
        )
        run.shaken = min((since for it in troubles if (since := shakes(it, run)) is not None), default=NEVER)
        if run.shaken < NEVER:
            run.left = _left(run, emptied)
        if end < NEVER:
            # what slurmctld has forgotten it does not count, and may give its number to another job
            counted[job] = run.run + 1
        found.append(run)
    return [*found, *unwritten(found, troubles)]


def _left(run: Run, emptied: Mapping[tuple[str, int], Sequence[float]]) -> dict[str, float]:
    """Nodes that had nothing of the run long before its recorded end: a slurmctld that forgot it hears it again."""
    found = {node: [at for at in emptied.get((node, run.job), ()) if run.start <= at < run.over] for node in run.nodes}
    return {node: min(times) for node, times in found.items() if times}


def unwritten(found: Sequence[Run], troubles: Iterable[Trouble]) -> list[Run]:
    """Runs that a slurmctld which was killed may have begun and not written down, of jobs that it ran later."""
    kills = [it for it in troubles if it.what == SLURMCTLD_KILLED]
    later = [(run, kill) for kill in kills for run in found if run.start > kill.start]
    return [
        Run(run.job, run.run, run.namespace, run.nodes, kill.start - FORGETS_S, NEVER, kill.end, kill.end)
        for run, kill in later
    ]


def shakes(trouble: Trouble, run: Run) -> float | None:
    """Since when a trouble may have taken from a run what it needs; None if it did not."""
    if trouble.what == POWER and trouble.node in run.nodes and run.start <= trouble.start < run.over:
        return trouble.start
    if trouble.what == SLURMCTLD_KILLED and run.start <= trouble.end and trouble.start - FORGETS_S <= run.over:
        return trouble.start - FORGETS_S
    return None


def rows(accounting: str) -> list[dict[str, str]]:
    """Lines of sacct by the names in SACCT."""
    return [dict(zip(SACCT.split(","), line.split("|"), strict=True)) for line in accounting.splitlines()]


def begun(accounting: str, since: float) -> str:
    """Accounting without what had started before: what Slurm once forgot is in every answer of it."""
    wanted = [row for row in rows(accounting) if seconds(row["Start"]) >= since]
    return "\n".join("|".join(row.values()) for row in wanted)


def ended(accounting: str, troubles: Sequence[Trouble] = ()) -> dict[str, list[str]]:
    """How the last runs of every submission ended, element by element."""
    last = {row["JobIDRaw"]: row for row in rows(accounting) if row["JobIDRaw"].isdigit()}
    for row in last.values():
        if row["State"] == "RUNNING" and forgot(troubles, seconds(row["Start"])) < NEVER:
            row["State"] = FORGOTTEN
    found: dict[str, list[str]] = {}
    for row in last.values():
        found.setdefault(row["JobID"].partition("_")[0], []).append(row["State"].split()[0])
    return found


def later(events: str, since: float) -> str:
    """Events without what had begun before: a drain that Slurm once forgot is in every answer of its books, too."""
    return "\n".join(line for line in events.splitlines() if seconds(line.split("|")[1]) >= since)


def drains(
    events: str, by_hand: Sequence[Trouble], troubles: Sequence[Trouble], kept: Mapping[str, str]
) -> list[Drain]:
    """What kept nodes from jobs, from `sacctmgr -nP show event` with EVENTS. Who lifted it is not told: we know what
    people did, and whatever they did not was the gate.

    `kept` is why nodes are kept back now. What a killed slurmctld has forgotten is never over in its books.
    """
    found = []
    lines = sorted((line.split("|") for line in events.splitlines()), key=lambda it: (it[0], it[1]))
    for (node, begin, end, reason), after in zip(lines, [*lines[1:], ["", "", "", ""]], strict=True):
        if not node:
            continue
        set_at, lifted = seconds(begin), seconds(end)
        found.append(Drain(set_at, node, "", reason, "slurm"))
        lost = forgot(troubles, set_at) if lifted == NEVER and not kept.get(node) else NEVER
        if lost < NEVER:
            found.append(Drain(lost, node, reason, "", "slurm", set_at))
        if lifted < NEVER:
            person = any(it.node == node and it.start - TICK_S <= lifted <= it.end + TICK_S for it in by_hand)
            following = after[3] if after[0] == node and seconds(after[1]) == lifted else ""
            found.append(Drain(lifted, node, reason, following, PERSON if person else "gate", set_at))
    return sorted(found)


def seconds(text: str) -> float:
    """A time as Slurm tells it; one that is not yet known is never."""
    return float(text) if text.isdigit() and int(text) else NEVER
