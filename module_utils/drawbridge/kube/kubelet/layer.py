# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's kubelet and its configuration drop-in."""

from __future__ import annotations

from pathlib import Path

from ...core.api.host import Server
from ...core.command import Command
from ...core.layer import Layer, Params, Work
from ...core.placed.text import FILE, Item, items
from ...nodes.use_io import NodeUse
from ..node_object_io import NodeObject
from ..options import KUBELET
from .health_io import Health
from .io import Kubelet, Places
from .plan import KubeletState, plan
from .text import render

COMMAND_S = 120.0
"""A kubelet under load stops slowly."""


def work(params: Params, check: bool) -> Work[KubeletState]:
    """The drop-in, and a kubelet that runs with it."""
    run = Command(COMMAND_S)
    want = KubeletState(render(params["config"]), enabled=True, running=True, current=True)
    places = Places(Path(params["path"]), Path(params["main_config"]), Path(params["state_dir"]))
    server = Server(params["api_server"], params["ca_file"])
    node = NodeObject(server, Path(params["certificate"]), params["slurm_node"])
    use, health = NodeUse(run, params["slurm_node"]), Health(run, params["start_timeout_s"])
    kubelet = Kubelet(places, want, run, use, node, health, of_site=params["join"] == "site")
    return Work(kubelet, plan, want, in_use=kubelet.in_use)


def places(params: Params) -> list[Item]:
    """The drop-in. A kubelet of the site keeps it: without it the kubelet would not start with its own state files."""
    return items(FILE, [params["path"]]) if params["join"] == "drawbridge" else []


KUBELET_CONFIG_HOST = Layer(KUBELET, work, places=places)
