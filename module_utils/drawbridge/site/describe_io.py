# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host with the clusters that it belongs to. Nothing is changed."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from ..core.converge import DeviceError
from ..core.loopback import is_loopback
from ..kube.kubelet.text import flag
from ..nodes import hardware_io
from . import describe_text as text

DAEMONS = ("slurmctld", "slurmctld-wlm", "slurmd", "slurmd-wlm")
SLURM_CONFS = (
    *("/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf"),
    "/run/slurm/conf/slurm.conf",
)
KUBELET, EMBEDDING = "kubelet", ("k3s-agent", "k3s-server", "kubelite")
"""Names of processes: the kubelet, and programs that have one inside, with files that only they know."""
DEFAULT_CONFIG = "/var/lib/kubelet/config.yaml"


class Host(hardware_io.Host):
    """This host; `root` is a prefix of all paths, for tests."""

    def read(self) -> dict[str, Any]:
        """All facts. What can't be read is absent or empty, and named in `missing`."""
        return {**super().read(), "slurm": self._slurm(), "kubelet": self._kubelet()}

    def _slurm(self) -> dict[str, Any]:
        for path in dict.fromkeys([*self._slurm_confs(), *SLURM_CONFS]):
            if self._at(path).is_file():
                return {**self._try("Slurm", lambda path=path: self._slurm_conf(path), {}), "path": path}
        return {}

    def _slurm_confs(self) -> Iterator[str]:
        """Files that a running daemon may have read: by its option, its environment, or the folder of its program."""
        for process in self._processes(*DAEMONS):
            command, environment = (_words(process / name) for name in ("cmdline", "environ"))
            variables = dict(word.split("=", 1) for word in environment if "=" in word)
            named = (dict(zip(command, command[1:])).get("-f"), variables.get("SLURM_CONF"))
            beside = [str(PurePosixPath(word).parent.parent / "etc/slurm.conf") for word in command[:1]]
            yield from (path for path in (*named, *beside) if path)

    def _slurm_conf(self, path: str) -> dict[str, Any]:
        """Slurm looks beside the file for the name after Include, if it does not begin with /."""
        folder = self._at(path).parent
        return text.slurm_conf(self._file(path.lstrip("/")), lambda name: (folder / name).read_text(errors="replace"))

    def _kubelet(self) -> dict[str, str]:
        """What the running kubelet has read. A file at a usual path may be that of an older cluster."""
        command = self._try("kubelet", self._command, [])
        if not command:
            return {}
        config = self._try("kubelet", lambda: self._config(command), {})
        client_ca = config.pop("client_ca", "")
        return {**config, **self._try("kubelet", lambda: self._cluster(command, client_ca), {})}

    def _command(self) -> list[str]:
        """The command line of this host's kubelet; empty on a host that has none. Raises DeviceError."""
        if command := next((_words(place / "cmdline") for place in self._processes(KUBELET)), []):
            return command
        if others := self._processes(*EMBEDDING):
            name = _word(others[0] / "comm")
            raise DeviceError(f"{name} runs it in its own process, and its files are not read")
        if self._at(DEFAULT_CONFIG).is_file():
            raise DeviceError(f"{DEFAULT_CONFIG} exists, but no kubelet runs")
        return []

    def _processes(self, *names: str) -> list[Path]:
        """Processes of these names outside of containers. A process may end meanwhile."""
        here = _namespace(self._at("/proc/self"))
        found = (place.parent for place in self._root.glob("proc/[0-9]*/comm") if _word(place) in names)
        return [process for process in sorted(found) if _namespace(process) == here]

    def _config(self, command: list[str]) -> dict[str, str]:
        path, folder = (flag(command, name) for name in ("--config", "--config-dir"))
        drop_ins = sorted(self._at(folder).rglob("*.conf")) if folder else []
        texts = [place.read_text(errors="replace") for place in drop_ins]
        return text.kubelet(self._file(path.lstrip("/")) if path else "", texts, command)

    def _cluster(self, command: list[str], client_ca: str) -> dict[str, str]:
        """Address and CA file of the API server. A load balancer of this host alone is named as such."""
        path = flag(command, "--kubeconfig")
        if not path:
            raise DeviceError("its command line names no kubeconfig")
        found = text.cluster(self._file(path.lstrip("/")))
        server, ca = found.get("server", ""), found.get("certificate-authority", "")
        if self._same(found.get("certificate-authority-data", ""), client_ca):
            ca = client_ca
        own = is_loopback(text.host_of(server)) or _is_here(text.host_of(server))
        facts = {"ca_file": ca, "local_server" if own else "api_server": server if own else text.taken(server)}
        return {key: value for key, value in facts.items() if value}

    def _same(self, data: str, path: str) -> bool:
        """Whether a file has the CA of the kubeconfig. The CA of the kubelet's own clients may be another one."""
        if not (data and path):
            return False
        try:
            return base64.b64decode(data).split() == self._at(path).read_bytes().split()
        except (OSError, ValueError):
            return False

    def _at(self, path: str) -> Path:
        return self._root / path.lstrip("/")


def _namespace(process: Path) -> str:
    """The namespace of the process; a container has another one. "" if it can't be read."""
    try:
        return str((process / "ns/pid").readlink())
    except OSError:
        return ""


def _word(path: Path) -> str:
    return " ".join(_words(path))


def _words(path: Path) -> list[str]:
    """Words of a file in /proc that end with a zero byte; none if its process has ended."""
    try:
        return path.read_text(errors="replace").strip("\0\n").split("\0")
    except OSError:
        return []


def _is_here(name: str) -> bool:
    """Whether this host resolves a name to itself, such as by a line of /etc/hosts."""
    try:
        return any(is_loopback(str(entry[4][0])) for entry in socket.getaddrinfo(name, None)) if name else False
    except OSError:
        return False
