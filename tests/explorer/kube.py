# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What acts in Kubernetes beside the gate: jobs' launchers, the job controller, the scheduler, the kubelets.

The scheduler binds as late as it likes. The job controller makes a new pod for each that is deleted. A kubelet admits a
pod if its node's label names the pod's job, by a cache that is a little old.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass

from roles.slurm_gate.files.gate.gate_names import JOB_LABEL
from roles.slurm_gate.files.gate.states import PODS, Json, Owner

from .hosts import Box, Contained, System
from .records import FOREIGN_POD, GPU_USED, Container, Trouble

JOBS = "/apis/batch/v1/namespaces/{}/jobs"
SCHEDULER_LAG_S, KUBELET_LAG_S, ADMISSION_LAG_S, CONTROLLER_LAG_S = 1.0, 0.3, 0.6, 0.6
"""How old the caches are at most. The gate's second look, a second later, is for the third of them."""
EXPORTER = 900
"""Its PID."""


@dataclass(eq=False)
class Live:
    """Processes of a pod on a node."""

    pod: str
    uid: str
    box: Box
    pid: int
    record: Container


class Kube:
    """Everything that watches the API server."""

    def __init__(self, system: System, boxes: dict[str, Box], rng: random.Random) -> None:
        self.system, self.server, self.sim, self.boxes, self.rng = system, system.server, system.sim, boxes, rng
        self.live: dict[str, Live] = {}
        self.kubelets = dict.fromkeys(boxes, True)
        self.seen: dict[str, list[tuple[float, str, str]]] = {name: [(0.0, "", "")] for name in boxes}
        """Label and taint of every node, since when."""
        self.late_s, self.ghost_s, self.backoff_s, self.exporters = 0.0, 0.0, (0.05, 4.0), False
        self._pids = itertools.count(1000)
        self.server.watchers.append(self.watch)

    # jobs' own doing

    def submit(self, token: str, job: int, run: int, pods: int, workloads: int) -> bool:
        """A job's launcher makes its workloads, of so many pods in all. False if it may not, or without an answer."""
        if not self.server.up or not self.server.may_run(token):
            return False
        namespace, account, _ = token.split(" ")
        collection = JOBS.format(namespace)
        for number in range(workloads):
            name = f"slurm-{job}-r{run}-main{number}"
            spec = {"job": job, "run": run, "pods": pods // workloads, "account": account}
            spec["pods"] += pods % workloads if not number else 0
            if f"{collection}/{name}" not in self.server.objects:
                metadata = {"name": name, "namespace": namespace, "labels": self._labels(job)}
                self.server.create(collection, {"metadata": metadata, "spec": spec})
        return True

    def _labels(self, job: int) -> dict[str, str]:
        """Nearly always with the one that says the job."""
        return {JOB_LABEL: str(job)} if self.rng.random() < 0.9 else {}

    def finish(self, token: str, job: int, run: int, workloads: int) -> None:
        """A job's launcher ends its own workloads, in the background."""
        if self.server.up and self.server.may_run(token):
            for number in range(workloads):
                self.server.drop(f"{JOBS.format(token.split(' ')[0])}/slurm-{job}-r{run}-main{number}")

    # controllers

    def watch(self, path: str, it: Json) -> None:
        """Something was made, changed or removed."""
        there = self.server.objects.get(path) is it
        if "/nodes/" in path:
            self._note_node(it["metadata"]["name"])
        elif "/jobs/" in path:
            if there:
                self.sim.after(self.rng.uniform(0.02, 0.3), self._sync, path, None)
            else:  # the job controller may not know yet
                self.sim.after(self.rng.uniform(0.0, CONTROLLER_LAG_S), self._sync, path, it)
                self.sim.after(CONTROLLER_LAG_S + self.rng.uniform(0.1, 2.0), self._collect, path, it)
        elif "/pods/" in path and (not there or "deletionTimestamp" in it["metadata"]):
            self._pod_ends(path, it)

    def _pod_ends(self, path: str, pod: Json) -> None:
        self.sim.after(self.rng.uniform(*self.backoff_s), self._sync, pod["spec"]["workload"], None)
        if node := pod["spec"].get("nodeName"):
            self.sim.after(self.rng.uniform(0.01, 0.2), self._stop, node, path, pod["metadata"]["uid"])

    def _sync(self, path: str, cached: Json | None) -> None:
        """Make the pods that a workload lacks; `cached`, if it is gone and the cache doesn't know."""
        workload = self.server.objects.get(path) or cached
        if not workload or not self.server.up:
            return
        spec, namespace = workload["spec"], workload["metadata"]["namespace"]
        have = {it["metadata"]["name"] for it in self._pods_of(workload)}
        alive = [it for it in self._pods_of(workload) if "deletionTimestamp" not in it["metadata"]]
        for number in itertools.count():
            if len(alive) >= spec["pods"]:
                return
            name = f"{workload['metadata']['name']}-{number}"
            if name in have:
                continue
            if not self.server.admits(namespace, spec["account"], self.rng.uniform(0, ADMISSION_LAG_S)):
                if not cached:
                    self.sim.after(self.rng.uniform(1.0, 10.0), self._sync, path, None)
                return
            alive.append(self._make(path, workload, name))

    def _make(self, path: str, workload: Json, name: str) -> Json:
        spec, metadata = workload["spec"], workload["metadata"]
        pod: Json = {
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {JOB_LABEL: spec["account"].split("-")[1]},
            },
            "spec": {
                "serviceAccountName": spec["account"],
                "workload": path,
                "owner": metadata["uid"],
                "job": spec["job"],
                "run": spec["run"],
                "terminationGracePeriodSeconds": self.rng.choice((1, 5, 30)),
            },
            "status": {"phase": "Pending"},
        }
        collection = PODS.format(metadata["namespace"])
        self.server.create(collection, pod)
        self.sim.after(self.rng.uniform(0.01, 0.4), self._schedule, f"{collection}/{name}", pod)
        return pod

    def _pods_of(self, workload: Json) -> list[Json]:
        uid = workload["metadata"]["uid"]
        return [it for _, it in self.server.items_of("pods") if it["spec"]["owner"] == uid]

    def _collect(self, path: str, workload: Json) -> None:
        """Pods of a workload that is gone go too: each with its own grace."""
        for pod in self._pods_of(workload):
            at = f"{path.replace('/apis/batch/v1', '/api/v1').rpartition('/jobs/')[0]}/pods/{pod['metadata']['name']}"
            if pod["spec"].get("nodeName"):
                self.server.end_pod(at, pod["spec"]["terminationGracePeriodSeconds"])
            else:
                self.server.drop(at)

    def _schedule(self, path: str, pod: Json) -> None:
        """Find a node whose label and taint, as the cache has them, let the pod in, and that has no other pod of it."""
        if self.server.objects.get(path) is not pod or pod["spec"].get("nodeName"):
            return
        if not self.server.up or "deletionTimestamp" in pod["metadata"]:
            self.sim.after(1.0, self._schedule, path, pod)
            return
        seen = self.sim.now - self.rng.uniform(0, SCHEDULER_LAG_S)
        job = str(pod["spec"]["job"])
        others = [it for _, it in self.server.items_of("pods") if it["spec"]["job"] == pod["spec"]["job"]]
        taken = {it["spec"].get("nodeName") for it in others}
        wanted = (job, Owner(pod["metadata"]["namespace"], pod["spec"]["job"]).held)
        fit = [node for node in self.boxes if node not in taken and self.node_at(node, seen) == wanted]
        if fit:
            late = self.late_s if self.late_s and self.rng.random() < 0.6 else self.rng.uniform(0.005, 0.05)
            self.sim.after(late, self._bind, path, pod, self.rng.choice(fit))
        self.sim.after(self.rng.uniform(1.0, 3.0), self._schedule, path, pod)

    def _bind(self, path: str, pod: Json, node: str) -> None:
        same = self.server.objects.get(path) is pod
        if self.server.up and same and self.server.bind(path, pod["metadata"]["uid"], node):
            self.system.trace("scheduler", f"{path} -> {node}, which is {self.server.value(node)}")
            self.sim.after(self.rng.uniform(0.01, 0.3), self._admit, node, path, pod)

    def node_at(self, node: str, when: float) -> tuple[str, str]:
        """A node's label and taint as a cache of that age has them."""
        return next(it[1:] for it in reversed(self.seen[node]) if it[0] <= when or it[0] == 0.0)

    def _note_node(self, node: str) -> None:
        now = (self.server.label(node), self.server.value(node))
        if self.seen[node][-1][1:] != now:
            self.seen[node].append((self.sim.now, *now))

    # kubelets

    def _hears(self, node: str) -> bool:
        box = self.boxes[node]
        return self.kubelets[node] and box.on and box.online and self.server.up

    def _admit(self, node: str, path: str, pod: Json) -> None:
        """Start the pod's container if the label lets it in, by a cache that is a little old; taints don't count."""
        uid = pod["metadata"]["uid"]
        if self.server.objects.get(path) is not pod or uid in self.live or not self._hears(node):
            return
        if pod["status"]["phase"] != "Pending" or "deletionTimestamp" in pod["metadata"]:
            return
        job = str(pod["spec"]["job"])
        cached, _ = self.node_at(node, self.sim.now - self.rng.uniform(0, KUBELET_LAG_S))
        fits = job in (cached, self.server.label(node))
        pod["status"]["phase"] = "Running" if fits else "Failed"
        self.system.trace("kubelet", f"{path} on {node}: {pod['status']['phase']}")
        if not fits:
            return
        box, pid, spec = self.boxes[node], next(self._pids), pod["spec"]
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        record = Container(node, name, namespace, spec["job"], spec["run"], self.sim.now)
        self.live[uid] = Live(path, uid, box, pid, record._replace(account=spec["serviceAccountName"]))
        box.containers[f"c-{uid}"] = Contained(namespace, name, pid)
        box.gpus[pid] = "python3"

    def _stop(self, node: str, path: str, uid: str) -> None:
        """End a pod that is to end, within its grace; then its object is gone."""
        if not self._hears(node):
            return
        pod, live = self.server.objects.get(path), self.live.get(uid)
        if live:
            grace = pod["metadata"].get("deletionGracePeriodSeconds", 1) if pod else 1
            self.sim.after(min(grace, self.rng.choice((0.1, 0.5, 2.0, grace))), self._ended, node, path, uid)
        elif pod and pod["metadata"]["uid"] == uid:
            self.server.drop(path)

    def _ended(self, node: str, path: str, uid: str) -> None:
        """A container has ended; its processes perhaps not quite."""
        live = self.live.get(uid)
        if live and live.box.on and self.kubelets[node]:
            first = live.box.containers.pop(f"c-{uid}", None)
            if first:
                self.sim.after(self.ghost_s, self._forgotten, live)
            if first and self.ghost_s:
                span = (self.sim.now, self.sim.now + self.ghost_s)
                self.server.history.troubles.append(Trouble(GPU_USED, node, *span))
        pod = self.server.objects.get(path)
        if pod and pod["metadata"]["uid"] == uid and self._hears(node):
            self.server.drop(path)

    def _forgotten(self, live: Live) -> None:
        live.box.gpus.pop(live.pid, None)
        self._close(live)

    def _close(self, live: Live) -> None:
        if self.live.pop(live.uid, None):
            self.server.version += 1
            self.server.history.containers.append(live.record._replace(end=self.sim.now))

    def still_running(self) -> None:
        """At the end: containers that never ended."""
        self.server.history.containers.extend(live.record for live in self.live.values())

    def power_off(self, box: Box) -> None:
        """All processes of a host end but those that every boot brings."""
        for live in [live for live in self.live.values() if live.box is box]:
            self._close(live)
        box.containers.clear()
        box.gpus.clear()
        self.infrastructure(box)
        now, troubles = self.sim.now, self.server.history.troubles
        for index, it in enumerate(troubles):
            if it.what in (GPU_USED, FOREIGN_POD) and it.node == box.name and it.end > now:
                troubles[index] = it._replace(end=now)

    def infrastructure(self, box: Box) -> None:
        """What every boot brings: on some sites an exporter that holds the GPUs."""
        if self.exporters:
            box.containers["c-exporter"] = Contained("kube-system", "exporter", EXPORTER)
            box.gpus[EXPORTER] = "exporter"

    def resync(self) -> None:
        """The API server is back: all watchers list anew."""
        for path, _ in self.server.items_of("jobs"):
            self._sync(path, None)
        for node in self.boxes:
            if self.kubelets[node] and self.boxes[node].on:
                self.restart(node, booted=False)

    def restart(self, node: str, booted: bool) -> None:
        """A kubelet looks at everything again. After a boot it runs pods again that may run."""
        self.kubelets[node] = True
        if not self._hears(node):
            self.sim.after(1.0, self.restart, node, booted)
            return
        for path, pod in self.server.items_of("pods"):
            if pod["spec"].get("nodeName") == node:
                self._look_again(node, path, pod, booted)
        known = {pod["metadata"]["uid"] for _, pod in self.server.items_of("pods")}
        self._orphans(node, known)

    def _look_again(self, node: str, path: str, pod: Json, booted: bool) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            self.sim.after(0.1, self._stop, node, path, pod["metadata"]["uid"])
            return
        if booted and pod["status"]["phase"] == "Running":
            pod["status"]["phase"] = self.rng.choice(("Pending", "Failed"))
        self.sim.after(self.rng.uniform(0.1, 1.0), self._admit, node, path, pod)

    def _orphans(self, node: str, known: Iterable[str]) -> None:
        for live in self.live.values():
            if live.box.name == node and live.uid not in known:
                self.sim.after(0.5, self._stop, node, live.pod, live.uid)
