# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host with the clusters that it belongs to. Nothing is changed."""

from __future__ import annotations

from typing import Any

from ..nodes import hardware_io
from . import describe_text as text

SLURM_CONFS = ("etc/slurm/slurm.conf", "etc/slurm-llnl/slurm.conf", "usr/local/etc/slurm.conf")
KUBELET_CONFIG, KUBECONFIG = "var/lib/kubelet/config.yaml", "etc/kubernetes/kubelet.conf"


class Host(hardware_io.Host):
    """This host; `root` is a prefix of all paths, for tests."""

    def read(self) -> dict[str, Any]:
        """All facts. What can't be read is absent or empty, and named in `missing`."""
        return {**super().read(), "slurm": self._slurm(), "kubelet": self._kubelet()}

    def _slurm(self) -> dict[str, Any]:
        for path in SLURM_CONFS:
            if (self._root / path).is_file():
                return {**self._try("Slurm", lambda path=path: self._slurm_conf(path), {}), "path": f"/{path}"}
        return {}

    def _slurm_conf(self, path: str) -> dict[str, Any]:
        """Slurm looks beside the file for the name after Include, if it does not begin with /."""
        folder = (self._root / path).parent
        return text.slurm_conf(self._file(path), lambda name: (folder / name).read_text(errors="replace"))

    def _kubelet(self) -> dict[str, str]:
        if not (self._root / KUBELET_CONFIG).is_file():
            return {}
        found = self._try("kubelet", lambda: text.kubelet(self._file(KUBELET_CONFIG)), {})
        server = self._try("kubelet", lambda: text.api_server(self._file(KUBECONFIG)), "")
        return {**found, "api_server": server} if server else found
