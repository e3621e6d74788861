# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a node, by the names of their modules. A visit of a node can run each of them."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.host_files.layer import HOST_FILES
from ..core.layer import Layer
from ..gate.program_layer import GATE_PROGRAM
from ..gate.runtime.layer import GATE_RUNTIME
from ..gate.tokens.layer import GATE_TOKEN_HOST
from ..kube.kubelet.layer import KUBELET_CONFIG_HOST
from ..kube.member.layer import KUBE_MEMBER_HOST
from ..kube.packages_layer import KUBE_PACKAGES
from ..kube.runtime.layer import KUBE_RUNTIME
from ..nic.layer import MLNX_QOS
from ..nic.links.layer import NIC_LINK
from ..nic.roce.layer import NIC_ROCE
from ..nodes.gpus.instances_layer import GPU_INSTANCES
from ..nodes.gpus.modes_layer import GPU_MODES
from ..slurm.daemon_layer import SLURM_DAEMON
from ..slurm.logins.layer import SLURM_NODE_LOGINS
from ..slurm.munge.layer import SLURM_MUNGE_KEY
from ..slurm.nodes.hardware_layer import SLURM_NODE_HARDWARE
from ..slurm.nodes.ready_layer import SLURM_NODE_READY
from ..slurm.packages_layer import SLURM_PACKAGES
from ..storage.clients import CLIENTS
from ..telemetry.node_exporter_layer import NODE_EXPORTER
from .placed_layer import PLACED_FILES

PLACED = "placed_files"
"""The layer that is last: it removes what no other places any more."""
LAYERS: Mapping[str, Layer] = {
    "mlnx_qos": MLNX_QOS,
    "nic_link": NIC_LINK,
    "nic_roce": NIC_ROCE,
    "host_files": HOST_FILES,
    "node_exporter": NODE_EXPORTER,
    **{name: layer for layers in CLIENTS.values() for name, layer in layers.items()},
    "kube_packages": KUBE_PACKAGES,
    "kube_runtime": KUBE_RUNTIME,
    "kubelet_config_host": KUBELET_CONFIG_HOST,
    "kube_member_host": KUBE_MEMBER_HOST,
    "gate_token_host": GATE_TOKEN_HOST,
    "gate_program": GATE_PROGRAM,
    "gate_runtime": GATE_RUNTIME,
    "slurm_packages": SLURM_PACKAGES,
    "slurm_munge_key": SLURM_MUNGE_KEY,
    "gpu_instances": GPU_INSTANCES,
    "gpu_modes": GPU_MODES,
    "slurm_node_hardware": SLURM_NODE_HARDWARE,
    "slurm_daemon": SLURM_DAEMON,
    "slurm_node_logins": SLURM_NODE_LOGINS,
    "slurm_node_ready": SLURM_NODE_READY,
    PLACED: PLACED_FILES,
}
