# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node has before Drawbridge arrives: CNI, devices, and on hosts that the site joins itself a kubelet.  Pure.

The lab's kubelets hand out a machine that exists on paper, so nothing may try to enforce it. Containers run without
limits everywhere, also where the kernel would have them (a cpuset of CPU 4-63 is an error on two CPUs).
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from lab.machine import amd
from lab.machine.hardware import Hardware

RDMA_SHARES = 63  # the largest rdmaHcaMax that the shared RDMA plugin is usually given

# What the lab's hardware asks for, in the directory that others than the owner of config.toml write to.
CONFINED = """\
version = 3

# An overlay cannot lie on the guest's own overlay; the images are small enough to be copied.
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "native"

  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "docker.io/lab/pause:1"

[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["/usr/lib/cni"]
"""
"""Of a virtual machine, whose kernel confines what runs in it."""
CONTAINERD = f"""\
{CONFINED}
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = "/usr/lib/lab/lab-runc"
"""
IMPORTS = 'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
"""config.toml of a host that the site has joined itself."""


def cni(address: int) -> str:
    """Return the pod network's conflist: a bridge of this host's own, 10.244.ADDRESS.0/24, not routed to others."""
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": f"10.244.{address}.0/24"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "ipam": ipam}
    return (
        json.dumps({"cniVersion": "1.0.0", "name": "lab", "plugins": [bridge, {"type": "loopback"}]}, indent=2) + "\n"
    )


def kubelet_config() -> str:
    """Return /var/lib/kubelet/config.yaml: no taint and no NUMA policy, since these are what Drawbridge brings."""
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": "/var/lib/kubelet/pki/kubelet.crt",
        "tlsPrivateKeyFile": "/var/lib/kubelet/pki/kubelet.key",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "resolvConf": "",
        "failSwapOn": False,
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        # An empty list does not survive --config-dir: kubelet 1.36 merges drop-ins into JSON that leaves it out.
        "enforceNodeAllocatable": ["none"],
        "localStorageCapacityIsolation": False,
        # Devices and readiness show in the node's status after two seconds instead of ten.
        "nodeStatusUpdateFrequency": "2s",
        "nodeStatusReportFrequency": "5m",
        # The disk is the machine's own, and how full that is, is not the lab's affair.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {
            "memory.available": "100Mi",
            **{f"{disk}.{what}": "0%" for disk in ("nodefs", "imagefs") for what in ("available", "inodesFree")},
        },
    }
    return yaml.safe_dump(config, sort_keys=False)


def devices(hardware: Hardware, files: bool) -> str:
    """Return the device plugin's resources: GPUs with their NUMA node, rails as the shared RDMA plugin has them.

    `files`: pods get the GPUs' device files, too.
    """
    # Shares of one NIC carry no topology: that plugin gives the kubelet no NUMA hint.
    shares = [{"id": str(share)} for share in range(RDMA_SHARES)]
    rails = [{"name": f"rdma/rail{rail}", "devices": shares} for rail in range(len(hardware.rail_numa))]
    resources = [_gpus(hardware, files), *rails]
    return json.dumps({"resources": [resource for resource in resources if resource["devices"]]}, indent=1) + "\n"


def _gpus(hardware: Hardware, files: bool) -> dict[str, Any]:
    """Return GPUs as the vendor's own plugin offers them: AMD's names them by address, and sets no variable.

    The file that all of AMD's GPUs share is missing: the lab's plugin gives one file for each device.
    """
    if hardware.gpu_vendor == "amd":
        about: dict[str, Any] = {"name": "amd.com/gpu"}
        name, path = amd.address, amd.render_node
    else:
        about = {"name": "nvidia.com/gpu", "env": "NVIDIA_VISIBLE_DEVICES"}
        name, path = "GPU-{}".format, "/dev/nvidia{}".format
    return about | {
        "devices": [
            {"id": name(gpu), "numa": node, **({"path": path(gpu)} if files else {})}
            for gpu, node in enumerate(hardware.gpu_numa)
        ]
    }
