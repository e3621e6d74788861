# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One host with GPUs, slurmctld and slurmd in namespaces of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.machines import IN_MEMORY, write
from tests.slurm_daemons import SCENE, Place
from tests.unit.module_utils.machines import ALL, node_class

MACHINE = ALL["epyc_nps1"]
_MOUNTED = "hostname ctl\n"
_BOUND = f'mount --bind "$MACHINE" "$R/machine"\n{_MOUNTED}'


def site(gpus: Mapping[str, Any]) -> Any:
    """A site with one node, whose memory is that of this host."""
    slurm = {"cluster": "demo", "controller": "ctl", "packages": "site", "topology": "none"}
    partitions = [{"name": "batch", "nodes": "n1", "default": True}]
    classes = {"a": node_class(MACHINE, memory_mib=2048, reserved_memory_mib=1024, gpus=gpus)}
    nodes = {"os": "debian-13", "classes": classes, "ranges": [{"names": "n1", "node_class": "a"}]}
    return load({"drawbridge_nodes": nodes, "drawbridge_slurm": {**slurm, "partitions": partitions}})


def put(upper: Path, texts: Mapping[str, str]) -> None:
    """Write files of the host, which all can be run."""
    for path, text in texts.items():
        (upper / path).parent.mkdir(parents=True, exist_ok=True)
        (upper / path).write_text(text)
        (upper / path).chmod(0o755)


def play(place: Place, folder: Path) -> Path:
    """Run /out/script on the host, whose own files are in `upper` of the folder; its outputs."""
    for name in ("root", "work"):
        (folder / name).mkdir()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as machine:
        write(replace(MACHINE, gpus=(), minors=()), Path(machine), hwloc=True)
        (folder / "upper/machine").mkdir()
        place.run(f'mkdir -p "$SCENE/root"; {SCENE.replace(_MOUNTED, _BOUND)}', SCENE=folder, MACHINE=machine)
    return folder / "upper/out"
