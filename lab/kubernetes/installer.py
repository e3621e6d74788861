# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the lab's administrator applies before the site is built: the rights of the installer, for inventories/lab.

The lab's own site has GPUs and RDMA devices by other means. The rights are those of a site that installs the GPU
operator and the RDMA plugin, too, since scenarios do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from module_utils.drawbridge.site.installer_view import manifest
from module_utils.drawbridge.site.load import part

INTENT = Path(__file__).resolve().parents[2] / "inventories/lab/group_vars/all"
EVERYTHING = {"gpu_operator": {}, "rdma": {}, "api_server": "https://ctl:6443"}
"""What the lab's own intent leaves out, and what it templates."""


def objects() -> list[dict[str, Any]]:
    """The manifests, in the order in which they are applied."""
    slurm, kube = (
        yaml.safe_load((INTENT / f"{domain}.yml").read_text())[f"drawbridge_{domain}"] for domain in ("slurm", "kube")
    )
    return manifest(part("slurm", slurm), part("kube", {**kube, **EVERYTHING}))


def text() -> str:
    """The same as a file for kubectl."""
    return yaml.safe_dump_all(objects(), sort_keys=False)
