# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent that describe.yml proposes for this machine as the one node of a cluster, with its questions answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_view import folder
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent

from tests.describing import answered
from tests.gpu.driver import Gpu

NODE = "n1"
RESERVED_MIB = 1024
SLURM = {
    **{"cluster": "demo", "controller": "ctl", "packages": "site", "topology": "none"},
    "partitions": [{"name": "batch", "nodes": NODE, "default": True}],
}
ANSWERED = ("os", "reserved_cpus", "reserved_memory_mib", "numa")
FIRST_CORE = "sys/devices/system/cpu/cpu0/topology/thread_siblings_list"


def nodes(facts: Mapping[str, Any], found: Sequence[Gpu], core: str) -> dict[str, Any]:
    """The node class and its node. `core` are CPUs that jobs never get.

    NICs, file systems and daemons of this machine have no part in it. GPUs whose NUMA node the kernel does not know
    are a question, and the driver has the answer. Raises ValueError for a question that only a person can answer.
    """
    alone = {"nics": [], "neighbours": {}, "mounts": [], "slurm": {}, "kubelet": {}}
    text = folder({NODE: {**facts, **alone}}, {"nodes": [NODE]}, {})["group_vars/all/nodes.yml"]
    numa = {"numa": [max(it.numa, 0) for it in found]}
    answers = {"reserved_cpus": core, "reserved_memory_mib": RESERVED_MIB, "gpus": numa}
    open_questions = [it for it in re.findall("# QUESTION: (.*)", text) if it.partition(":")[0] not in ANSWERED]
    if open_questions:
        raise ValueError(f"describe.yml has questions about this machine: {'; '.join(open_questions)}")
    name = text.partition("  classes:\n")[2].partition(":")[0].strip()
    asked = {"os": "debian-13", "classes": {name: answers}, "ranges": [{}]}
    return yaml.safe_load(answered(text, {"drawbridge_nodes": asked}))


def intent(described: Mapping[str, Any], release: str = "", more: int = 0) -> Intent:
    """The intent with these nodes, for a release of Slurm. `more` are GPUs that the class claims and no job gets."""
    (name, build), *_rest = described["drawbridge_nodes"]["classes"].items()
    if more:
        gpus = build["gpus"]
        build = {**build, "gpus": {"minors": list(range(len(gpus["numa"]))), **gpus, "others": more}}
    own = {**described["drawbridge_nodes"], "classes": {name: build}}
    made = load({"drawbridge_nodes": own, "drawbridge_slurm": SLURM})
    return replace(made, slurm=replace(made.slurm, version=release)) if release else made


def first_core(root: Path = Path("/")) -> str:
    """CPUs of the first core."""
    return (root / FIRST_CORE).read_text().strip()
