# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node classes of a cluster and their attributes."""

from __future__ import annotations

from typing import Any

from ....core.command import Command
from ....core.layer import Layer, Params, Work, records
from ..io import MM_PATH, Mm
from ..members.io import Names
from .io import Config
from .plan import ConfigState, NodeClass, plan

SPEC: dict[str, Any] = {
    "classes": records(
        name={"type": "str", "required": True},
        nodes={"type": "list", "elements": "str", "required": True},
        settings={"type": "dict", "required": True},
    ),
    "only": {"type": "list", "elements": "str", "default": []},
    "daemon_suffix": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "lock_wait_s": {"type": "int", "default": 600},
    "timeout_s": {"type": "int", "default": 120},
}


def work(params: Params, check: bool) -> Work[ConfigState]:
    """The wanted classes. In a run they have only nodes that have joined; a prediction takes all for members."""
    mm = Mm(Command(params["timeout_s"]), params["mm_path"], params["lock_wait_s"])
    only = frozenset(params["only"])
    settings = {it["name"]: {name: str(value) for name, value in it["settings"].items()} for it in params["classes"]}
    nodes = {it["name"]: frozenset(it["nodes"]) & only if only else frozenset(it["nodes"]) for it in params["classes"]}
    want = ConfigState({name: NodeClass(nodes[name], settings[name]) for name in nodes}, bool(only))
    device = Config(mm, want, Names(params["daemon_suffix"]))
    if not check:
        joined = device.members()
        joined_only = {name: NodeClass(it.members & joined, it.settings) for name, it in want.classes.items()}
        want = ConfigState(joined_only, want.partial)
    return Work(device, plan, want)


MM_CONFIG = Layer(SPEC, work)
