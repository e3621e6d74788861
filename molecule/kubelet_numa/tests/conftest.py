# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""gpu01 dressed as other machines: the kubelet sees their CPUs, memory and GPUs, and everything else is real."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, config

from lab.hosts.paths import Paths
from lab.kubernetes import node as devices
from lab.machine import trees
from lab.machine.build import BINDS
from lab.machine.hardware import Hardware
from tests.running import SSH_S, Lab

PATHS = Paths.of()
WARDROBE = "/run/wardrobe"
DEVICES = "/etc/lab/deviceplugin.json"
CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
STATE = "/var/lib/kubelet/cpu_manager_state /var/lib/kubelet/memory_manager_state"
PATIENCE_S = 300
POLICY_FILE = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"


@pytest.fixture(scope="session")
def lab() -> Lab:
    """The running lab."""
    return Lab(PATHS)


@pytest.fixture(scope="session")
def api() -> Any:
    """The API as the administrator."""
    return client.CoreV1Api(config.new_client_from_config(str(PATHS.kubeconfig)))


def packed(files: dict[str, str]) -> bytes:
    """A tar of text files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def send(script: str, data: bytes = b"") -> str:
    """Run a script on gpu01 with these bytes as its input."""
    argv = ["ssh", "-F", str(PATHS.ssh_config), "gpu01", script]
    done = subprocess.run(argv, input=data, capture_output=True, check=False, timeout=SSH_S)
    assert done.returncode == 0, f"{script}: {done.stderr.decode()}"
    return done.stdout.decode()


UNDRESS = f"""
for place in {" ".join(BINDS)}; do
  while [ "$(grep -c " $place " /proc/mounts)" -gt 1 ]; do umount "$place"; done
done
rm -rf {WARDROBE} {STATE} {CHECKPOINT}
"""
"""The kubelet's notes of a machine are another machine's, once it has changed."""


@pytest.fixture(scope="module")
def wardrobe() -> Iterator[None]:
    """At the end gpu01 is itself again."""
    before, policy = send(f"cat {DEVICES}"), send(f"cat {POLICY_FILE}")
    yield
    send("systemctl stop kubelet\n" + UNDRESS)
    send(f"cat > {DEVICES}", before.encode())
    send(f"cat > {POLICY_FILE}; systemctl restart lab-device-plugin; systemctl start kubelet", policy.encode())


def dress(hardware: Hardware) -> None:
    """Show gpu01 another machine."""
    files = {name: text for name, text in trees.processors(hardware).items() if name.startswith("bind/")}
    binds = "\n".join(f"mount --bind {WARDROBE}/bind{place} {place}" for place in BINDS)
    send(f"systemctl stop kubelet\n{UNDRESS}\nmkdir {WARDROBE}\ntar -x -C {WARDROBE}\n{binds}", packed(files))
    send(f"cat > {DEVICES}", devices.devices(hardware, files=False).encode())


def text_of(policy: dict[str, Any]) -> bytes:
    """A drop-in."""
    lines = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **policy}
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in lines.items()).encode()


def wear(policy: dict[str, Any]) -> None:
    """Start the kubelet with a configuration, as its owner would on a new machine.

    No device plugin of the machine before may tell it of its GPUs.
    """
    send(f"systemctl stop kubelet lab-device-plugin; rm -f {STATE} {CHECKPOINT}; cat > {POLICY_FILE}", text_of(policy))
    send("systemctl start kubelet; systemctl start lab-device-plugin")


def has_devices() -> bool:
    """Whether the kubelet knows its GPUs since its start; its Node tells of those of before."""
    return "GPU-0" in send(f"cat {CHECKPOINT} 2>/dev/null || true")
