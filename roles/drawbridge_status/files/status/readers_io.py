# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm, Kubernetes and reports, read with the rights of the person who calls."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..gate.command import Commands, Result
from . import actors_text, health_text, history_text, kube_text, reports_text, slurm_text
from .model import Actor, Event, Member, Seen, Site

SETTINGS = Path("/etc/drawbridge/status.json")
STATES = "PENDING,RUNNING,CONFIGURING,COMPLETING,SUSPENDED,STOPPED"
NEWEST = 50
"""Reports that are read."""
HISTORY = (Path("/var/lib/drawbridge/health/history.jsonl.1"), Path("/var/lib/drawbridge/health/history.jsonl"))
"""What drawbridge-health has seen and done, the older file first. Only the controller has them."""
TIMEOUT_S = 60.0
AUDIT_BYTES = 16 << 20
"""The end of the audit log that is read."""


def site(file: Path = SETTINGS) -> tuple[Site, tuple[str, ...]]:
    """The site's settings. Without the file, a note says so."""
    try:
        raw = json.loads(file.read_text())
        return Site(**{one.name: raw[one.name] for one in fields(Site) if one.name in raw}), ()
    except FileNotFoundError:
        return Site(), (f"{file} is missing, so gated partitions are not known",)
    except (OSError, ValueError, TypeError) as err:
        return Site(), (f"{file} can't be read ({err}), so gated partitions are not known",)


class Readers:
    """One look at everything."""

    def __init__(self, commands: Commands, env: Mapping[str, str], kubeconfig: str = "") -> None:
        self._commands, self._env, self._kubeconfig = commands, env, kubeconfig
        self._notes: list[str] = []
        self._blind = False

    def look(self, reports: Path, explained: str = "", audit_log: str = "") -> Seen:
        """Slurm's nodes first, then jobs, then Kubernetes: in this order a job that starts in between is seen.

        Of the node `explained` also who drained it, and who wrote its Node object.
        """
        self._notes, self._blind = [], False
        nodes = slurm_text.nodes(self._run("scontrol", "show", "node", "-o"))
        queue = ("squeue", "--all", "--noheader", f"--states={STATES}", f"--Format={slurm_text.FORMAT}")
        jobs = slurm_text.jobs(self._run(*queue))
        members = self._members()
        actors: dict[str, tuple[Actor, ...]] = {}
        if explained:
            actors[explained] = self._drains(explained)
        if explained in (members or {}):
            actors[explained] += (*self._actors(explained), *self._audited(explained, audit_log))
        kept = self._reports(reports)
        runs, proofs = reports_text.last_runs(kept), reports_text.proofs(kept)
        self._notes += health_text.breakers(nodes.values())
        history = {explained: self._history(explained)} if explained else {}
        return Seen(nodes, jobs, members, runs, proofs, actors, history, tuple(self._notes), self._blind)

    def _history(self, name: str) -> tuple[Event, ...]:
        """What drawbridge-health has seen of the node and done. Without rights on its files, a note says so."""
        lines: list[str] = []
        for file in HISTORY:
            try:
                lines += file.read_text(encoding="utf-8", errors="replace").splitlines()
            except FileNotFoundError:
                continue
            except OSError as err:
                self._notes.append(f"the history of its health can't be read ({err}); root sees it")
                return ()
        return health_text.events(lines, name, time.time())

    def units(self) -> dict[str, str]:
        """Hostlists of scalable units, by the names of their switches in Slurm; none if Slurm has no topology."""
        result = self._commands.run("scontrol", "show", "topology", timeout_s=TIMEOUT_S)
        return {} if result.code else slurm_text.units(result.out)

    def _run(self, *argv: str) -> str:
        """A command of Slurm; no output if Slurm does not answer."""
        result = self._commands.run(*argv, timeout_s=TIMEOUT_S)
        if result.code:
            self._blind = True
            self._notes.append(f"Slurm did not answer ({argv[0]}: {result.err or result.code})")
            return ""
        return result.out

    def _members(self) -> dict[str, Member] | None:
        """Nodes of Kubernetes. Missing rights are normal for a user; a silent API server is not."""
        file = self._kubeconfig or self._env.get("KUBECONFIG") or f"{self._env.get('HOME', '')}/.kube/config"
        missing = "kubectl is not installed" if not shutil.which("kubectl", path=self._env.get("PATH")) else ""
        if not missing and not any(Path(part).is_file() for part in file.split(":")):
            missing = "you have no kubeconfig"
        if missing:
            self._notes.append(f"{missing}, so only Slurm's side is shown")
            return None
        result = self._kubectl("get", "nodes", "-o", kube_text.TEMPLATE)
        if not result.code:
            return kube_text.members(result.out)
        if "Forbidden" in result.err:
            self._notes.append("you may not read nodes in Kubernetes, so only Slurm's side is shown")
            return None
        self._blind = True
        self._notes.append(f"Kubernetes did not answer ({' '.join(result.err.split())[-300:] or result.code})")
        return None

    def _actors(self, name: str) -> tuple[Actor, ...]:
        """Writers of a Node object; none, with a note, if Kubernetes does not answer now."""
        result = self._kubectl("get", "node", name, "--show-managed-fields", "-o", "json")
        if result.code:
            self._notes.append(f"who changed {name} in Kubernetes is not known ({result.err or result.code})")
            return ()
        return actors_text.actors(result.out)

    def _drains(self, name: str) -> tuple[Actor, ...]:
        """Drains by people in the last days; none where accounting is not read."""
        words = ("show", "event", f"nodes={name}", f"start=now-{history_text.DAYS}days")
        argv = ("sacctmgr", "--noheader", "--parsable2", *words, f"format={history_text.FIELDS}")
        result = self._commands.run(*argv, timeout_s=TIMEOUT_S)
        return () if result.code else history_text.drains(result.out)

    def _audited(self, name: str, file: str) -> tuple[Actor, ...]:
        """Writes by the end of the audit log. Without rights on the file, a note says so."""
        if not file:
            return ()
        try:
            with Path(file).open("rb") as log:
                log.seek(max(0, Path(file).stat().st_size - AUDIT_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except OSError as err:
            self._notes.append(f"the audit log can't be read ({err}), so users are not known")
            return ()
        return history_text.writes(lines, name)

    def _kubectl(self, *words: str) -> Result:
        options = (f"--kubeconfig={self._kubeconfig}",) if self._kubeconfig else ()
        return self._commands.run("kubectl", *options, *words, "--request-timeout=30s", timeout_s=TIMEOUT_S)

    def _reports(self, folder: Path) -> list[dict[str, Any]]:
        """Reports of runs in a folder. Without reports, a note says so."""
        reports: list[dict[str, Any]] = []
        for file in sorted(folder.glob("*.json"))[-NEWEST:] if folder.is_dir() else ():
            try:
                found = json.loads(file.read_text())
            except (OSError, ValueError) as err:
                self._notes.append(f"{file} can't be read ({err})")
                continue
            # a report, or those that playbooks/reports.yml copied here as one file
            reports += [it for it in (found if isinstance(found, list) else [found]) if isinstance(it, dict)]
        if not reports:
            self._notes.append(f"no report of a run is in {folder}, so pending changes are not known")
        return reports
