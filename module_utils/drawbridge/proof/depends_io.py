# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads on a node what its proof depends on, without tools that take long. What can't be read is absent."""

from __future__ import annotations

from pathlib import Path

from ..core.command import Command, Run
from ..core.converge import DeviceError
from ..nodes.lldp_io import neighbours
from .depends import Asked, Texts, values

SETTINGS = "etc/drawbridge/passport.json"
"""The file is on nodes whose class needs a passport."""
KERNEL, FIRMWARE = "proc/sys/kernel/osrelease", "sys/class/infiniband/{rdma}/fw_ver"
LIMIT_S = 5.0


def depends(root: str = "/") -> dict[str, str]:
    """Values of this node by name; its versions alone if it needs no passport. Raises DeviceError for broken settings.

    `root` is a prefix of all paths, for tests.
    """
    if (Path(root) / SETTINGS).exists():
        return read(asked(root), Command(LIMIT_S), root)
    devices = sorted(path.parent.name for path in Path(root).glob(FIRMWARE.format(rdma="*")))
    firmware = {name: _text(Path(root), FIRMWARE.format(rdma=name)) for name in devices}
    return values(
        Asked("", "", rails={name: name for name in devices}), Texts(_text(Path(root), KERNEL), firmware=firmware)
    )


def asked(root: str = "/") -> Asked:
    """The node's settings. Raises DeviceError."""
    path = Path(root) / SETTINGS
    try:
        return Asked.parse(path.read_text())
    except (OSError, ValueError) as err:
        raise DeviceError(f"{path} has no settings of the passport: {err}") from err


def read(asked: Asked, run: Run, root: str = "/") -> dict[str, str]:
    """Values by name."""
    base = Path(root)
    try:
        cables = neighbours(run) if asked.rails else {}
    except DeviceError:
        cables = {}
    firmware = {rdma: _text(base, FIRMWARE.format(rdma=rdma)) for rdma in asked.rails.values()}
    about = sorted(base.glob(asked.gpus.lstrip("/"))) if asked.gpus else []
    gpus = [_text(path.parent, path.name) for path in about]
    return values(asked, Texts(_text(base, KERNEL), _text(base, asked.driver), gpus, firmware, cables))


def _text(base: Path, path: str) -> str:
    """A file's text; empty if it can't be read."""
    try:
        return (base / path.lstrip("/")).read_text(errors="replace").strip() if path else ""
    except OSError:
        return ""
