# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whole configurations of Slurm, from describe.yml to a second takeover. tests/slurm_configurations.yml has them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import (
    describe_running,
    describe_text,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import (
    controller_files,
    slurmdbd_conf,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.nodes import by_node, gres
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import (
    files,
    report,
    suggestion,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.model import (
    DROPPED,
    Change,
)

CONFIGURATIONS: dict[str, dict[str, Any]] = yaml.safe_load(Path("tests/slurm_configurations.yml").read_text())


class Live:
    """The files of one site."""

    def __init__(self, name: str, release: str = "24.11") -> None:
        self.files = {key: text for key, text in CONFIGURATIONS[name].items() if isinstance(text, str) and "." in key}
        self.lost = CONFIGURATIONS[name].get("lost", [])
        self.release = CONFIGURATIONS[name].get("release", release)

    def lines(self, name: str) -> list[Any]:
        return lines(self.files[name], self.files.__getitem__)

    def value(self, key: str) -> str:
        return next(line.name for line in self.lines("slurm.conf") if line.kind == key.lower())

    def described(self) -> dict[str, Any]:
        """The intent that describe.yml proposes, and that its questions get."""
        names = by_node(self.lines("slurm.conf"))
        facts = {name: {"slurm": {}, "os": "ubuntu-22.04"} for name in [*names, "head"]}
        facts["head"]["slurm"] = describe_text.slurm_conf(self.files["slurm.conf"], self.files.__getitem__)
        groups = {"nodes": [*names], "controllers": [facts["head"]["slurm"]["controller"] or "head"]}
        text = "\n".join(describe_running.slurm(facts, {name: facts[name] for name in names}, groups))
        slurm = yaml.safe_load(re.sub(r"^ +# .*\n?", "", text, flags=re.MULTILINE))["drawbridge_slurm"]
        controller = {"controller": slurm.get("controller", "head")}
        slurm = {**slurm, **controller, "packages": "site", "topology": "none", "version": self.release}
        if "database" in text:
            slurm["accounting"]["database"] = {"server": "site", "host": "maria"}
        return {"drawbridge_nodes": self._nodes(names), "drawbridge_slurm": slurm}

    @staticmethod
    def _nodes(names: Mapping[str, Any]) -> dict[str, Any]:
        classes: dict[str, dict[str, Any]] = {}
        ranges = []
        for name, keys in names.items():
            build = machine({key: value for key, (_spelling, value) in keys.items()})
            of = next((key for key, other in classes.items() if other == build), f"c{len(classes)}")
            classes[of] = build
            address = keys.get("nodeaddr", ("", ""))[1]
            ranges.append({"names": name, "node_class": of, **({"addresses": address} if address else {})})
        return {"os": "ubuntu-22.04", "classes": classes, "ranges": ranges}

    def takeover(self, intent: Mapping[str, Any]) -> dict[str, list[Change]]:
        site = load(copy.deepcopy(dict(intent)))
        new = {**controller_files(site.slurm, site.nodes, True), "slurmdbd.conf": slurmdbd_conf(site.slurm)}
        parts = {
            key: [it["path"] for it in entries]
            for key, entries in intent["drawbridge_slurm"].get("scripts", {}).items()
        }
        scripts = {"Prolog": "prolog", "Epilog": "epilog", "PrologSlurmctld": "prolog_slurmctld"}
        scripts |= {"HealthCheckProgram": "health"}
        kept = {key: parts.get(kind, []) for key, kind in scripts.items()}
        return {
            name: files.changes(
                *(f"/etc/slurm/{name}", text, new.get("topology.conf" if name == files.TOPOLOGY else name, "")),
                *(self.files.__getitem__, kept, self.files["slurm.conf"], self.release),
            )
            for name, text in self.files.items()
            if files.is_compared(name) and text
        }


def machine(values: Mapping[str, str]) -> dict[str, Any]:
    """A node class of a node's line."""
    shape = {"sockets": "socketsperboard", "cores_per_socket": "corespersocket", "threads_per_core": "threadspercore"}
    sizes = {key: int(values.get(name, "1")) for key, name in shape.items()}
    sizes["cores_per_socket"] = max(sizes["cores_per_socket"], 2)
    cores, threads = sizes["sockets"] * sizes["cores_per_socket"], sizes["threads_per_core"]
    build: dict[str, Any] = {
        **{**sizes, "numa_nodes": sizes["sockets"], "memory_mib": int(values.get("realmemory", "8000"))},
        **{"reserved_cpus": "0" if threads == 1 else f"0,{cores}", "reserved_memory_mib": 2048},
    }
    for (name, kind), count in gres(values.get("gres", "")).items():
        if name == "gpu" and "gpus" not in build:
            build["gpus"] = {"type": kind or "h100", "numa": [at * sizes["sockets"] // count for at in range(count)]}
            if VENDORS["amd"].makes(kind):
                build["gpus"] |= {"vendor": "amd", "minors": [128 + 8 * at for at in range(count)]}
    return build


def kept(report_text: str) -> dict[str, Any]:
    """What the report says to add."""
    more = report_text.partition("add to the intent:\n")[2]
    return (yaml.safe_load("\n".join(line[4:] for line in more.splitlines())) or {}).get("drawbridge_slurm", {})


def joined(have: Any, more: Any, key: str = "") -> Any:
    """An intent with additions, put in by a person who reads them."""
    if isinstance(have, dict) and isinstance(more, dict):
        return {**have, **{name: joined(have.get(name), value, name) for name, value in more.items()}}
    if key == "partitions":
        by_name = {it["name"]: it for it in [*have]}
        return [*{**by_name, **{it["name"]: {**joined(by_name.get(it["name"], {}), it)} for it in more}}.values()]
    return more


def answers(live: Live, more: dict[str, Any]) -> dict[str, Any]:
    """Additions with the texts and values that templates and masks stand for."""
    for key in ("JobCompPass", "AccountingStoragePass"):
        if key in more.get("settings", {}):
            more["settings"][key] = live.value(key)
    for name in ("job_submit", "cli_filter"):
        if name in more:
            more[name]["script"] = live.files[f"{name}.lua"]
    return more


def refusals(intent: Mapping[str, Any]) -> list[Any]:
    try:
        load(copy.deepcopy(dict(intent)))
    except IntentError as refused:
        return [*refused.faults]
    return []


def lost(changes: Mapping[str, list[Change]]) -> Iterator[Change]:
    return (change for found in changes.values() for change in found if change.group == DROPPED)


def taken_over(live: Live) -> tuple[dict[str, Any], dict[str, list[Change]]]:
    """The intent that describe.yml and one report make, and what the second takeover says."""
    intent = live.described()
    assert refusals(intent) == []
    more = answers(live, kept(report.text(live.takeover(intent), suggestion.intent)))
    intent = {**intent, "drawbridge_slurm": joined(intent["drawbridge_slurm"], more)}
    assert refusals(intent) == []
    return intent, live.takeover(intent)
