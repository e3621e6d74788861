# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent: one description of the site, as frozen dataclasses.

Every key is declared once, here; roles/cluster_intent documents it from this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ..core import hostlist
from ..core.options import NAME, option
from ..kube.releases.catalogue import NVIDIA, PAUSE, RDMA_PLUGIN
from ..slurm.packaging import PACKAGINGS
from ..slurm.releases import RELEASES

PORTS = r"[A-Za-z]+[0-9/]+(-[0-9]+)?(,[A-Za-z]+[0-9/]+(-[0-9]+)?)*"
CPUS = r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*"
IMAGE = r"[a-z0-9._/:-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})"
PATH = r"/[A-Za-z0-9._/-]+"
ACCOUNT = r"[a-z0-9-]+/[a-z0-9.-]+"
TIME = r"[0-9]+|[0-9]+:[0-5][0-9]:[0-5][0-9]|[0-9]+-[0-9]{1,2}(:[0-5][0-9]){0,2}"
"""A time limit that reads the same to people and to Slurm, which takes 4:00 for four minutes."""
TOPOLOGY_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
ONE_LINE = r"[^\s\"#\\]([^\n\r\"#\\]*[^\s\"#\\])?"


@dataclass(frozen=True)
class Roce:
    """The lossless traffic class that GPUs talk through."""

    priority: int = option("priority that PFC keeps lossless, on switches and NICs", low=0, high=7)
    dscp: int = option("DSCP that marks the class on the wire", low=0, high=63)
    bandwidth_percent: int = option("share that the class gets when a link is full", 50, low=1, high=99)
    ecn_min_bytes: int = option("queue depth from which packets are ECN-marked", 150000, low=1000)
    ecn_max_bytes: int = option("queue depth from which ecn_probability_percent of them are", 1500000, low=1000)
    ecn_probability_percent: int = option("marking probability at ecn_max_bytes", 100, low=1, high=100)


@dataclass(frozen=True)
class Cnp:
    """Congestion notification packets: strict priority, lossy, never paused."""

    priority: int = option("priority of congestion notifications", 6, low=0, high=7)
    dscp: int = option("DSCP of congestion notifications", 48, low=0, high=63)


@dataclass(frozen=True)
class Watchdog:
    """What a switch does with a queue that stays paused."""

    detect_ms: int = option("paused for so long, a queue counts as stuck", 200, low=100, high=5000)
    restore_ms: int = option("unpaused for so long, a queue counts as well again", 200, low=100, high=60000)
    poll_ms: int = option("how often queues are looked at", 100, low=50, high=1000)
    action: str = option("what happens to packets of a stuck queue", "drop", choices=("drop", "forward"))


@dataclass(frozen=True)
class Switches:
    """Switches of one kind."""

    names: str = option("hostlist of the switches, as in the inventory", hosts=True)
    tier: str = option("leaf (nodes are cabled to it) or spine", choices=("leaf", "spine"))
    platform: str = option("network operating system", choices=("eos",))
    ports: str = option("ports that carry the lossless class, such as Ethernet1-32", pattern=PORTS)
    asic: str = option("queue flavour of the hardware", "xgs", choices=("xgs", "jericho"))


@dataclass(frozen=True)
class Fabric:
    """drawbridge_fabric: one traffic class, the same on every link."""

    roce: Roce = option("the lossless class")
    cnp: Cnp = option("congestion notifications", Cnp())
    watchdog: Watchdog = option("PFC watchdog of the switches", Watchdog())
    host_mtu_bytes: int = option("MTU of the nodes' RDMA ports", 9000, low=1280, high=9194)
    switch_mtu_bytes: int = option("MTU of the switches' ports", 9214, low=1280, high=9216)
    switches: tuple[Switches, ...] = option("the switches", ())


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a node."""

    type: str = option("Slurm's gres type, such as h100", pattern=r"[a-z0-9._-]+")
    numa: tuple[int, ...] = option("NUMA node of each GPU, in index order", low=0, high=63)
    vendor: str = option("who made them: decides device files and Kubernetes resource", "nvidia", choices=("nvidia",))

    @property
    def count(self) -> int:
        """GPUs in the node."""
        return len(self.numa)


@dataclass(frozen=True)
class Nics:
    """The RDMA ports of a node, one a rail."""

    netdev: str = option("hostlist of the network devices, in rail order", hosts=True)
    rdma: str = option("hostlist of the RDMA devices, in rail order", hosts=True)
    numa: tuple[int, ...] = option("NUMA node of each port, in rail order", low=0, high=63)
    device: str = option(
        "PCI vendor and device of the ports, as `lspci -n` prints them, such as 15b3:1021 (empty: not compared)",
        "",
        pattern=r"([0-9a-f]{4}:[0-9a-f]{4})?",
    )

    @cached_property
    def netdevs(self) -> tuple[str, ...]:
        """Network devices in rail order."""
        return tuple(hostlist.expand(self.netdev))

    @cached_property
    def rdma_devices(self) -> tuple[str, ...]:
        """RDMA devices in rail order."""
        return tuple(hostlist.expand(self.rdma))


@dataclass(frozen=True)
class NodeClass:
    """Nodes of one build."""

    sockets: int = option("CPU sockets", low=1, high=16)
    cores_per_socket: int = option("cores of a socket", low=1, high=512)
    memory_mib: int = option("memory as `slurmd -C` prints it (RealMemory)", low=1024)
    reserved_cpus: str = option("CPUs that jobs never get, whole cores, as a kernel CPU list", pattern=CPUS)
    reserved_memory_mib: int = option("memory that jobs never get", low=1024)
    gpus: Gpus = option("GPUs")
    nics: Nics = option("RDMA ports")
    threads_per_core: int = option("hardware threads of a core", 2, low=1, high=8)
    numa_nodes: int = option("NUMA nodes", 2, low=1, high=64)
    cpu_numbering: str = option(
        "numbers of a core's threads: apart (0 and 64 on 64 cores; see lscpu -e) or together (0 and 1)",
        "apart",
        choices=("apart", "together"),
    )
    hugepages_mib: int = option("huge pages of the host's own daemons, a part of reserved_memory_mib", 0, low=0)
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy on these nodes; empty: drawbridge_kube.topology_policy",
        "",
        choices=("", *TOPOLOGY_POLICIES),
    )

    @property
    def cpus(self) -> int:
        """Hardware threads of the node."""
        return self.sockets * self.cores_per_socket * self.threads_per_core


@dataclass(frozen=True)
class Range:
    """Nodes that share a class and a leaf."""

    names: str = option("hostlist of the nodes, as in the inventory", hosts=True)
    node_class: str = option("name of their class", pattern=NAME)
    leaf: str = option("leaf switch that they are cabled to", pattern=NAME)


@dataclass(frozen=True)
class Nodes:
    """drawbridge_nodes: what the nodes are and where they stand."""

    classes: dict[str, NodeClass] = option("node classes by name")
    ranges: tuple[Range, ...] = option("which node is of which class, on which leaf")

    @cached_property
    def by_name(self) -> dict[str, Range]:
        """The range of every node."""
        return {name: part for part in self.ranges for name in hostlist.expand(part.names)}

    def range_of(self, name: str) -> Range | None:
        """The range of one node, found without listing all; None for a name that no range has."""
        return next((part for part in self.ranges if hostlist.contains(part.names, name)), None)

    def class_of(self, name: str) -> NodeClass:
        """The class of a node. Raises KeyError for a name that no range has."""
        if part := self.range_of(name):
            return self.classes[part.node_class]
        raise KeyError(name)


@dataclass(frozen=True)
class Partition:
    """A Slurm partition."""

    name: str = option("name of the partition", pattern=NAME)
    nodes: str = option("hostlist of its nodes", hosts=True)
    gate: bool = option("true: its jobs get whole nodes, which Kubernetes may use while they run", False)
    default: bool = option("true: jobs without -p go here", False)
    max_time: str = option("longest time limit, as slurm.conf writes it", "UNLIMITED", pattern=rf"UNLIMITED|{TIME}")


@dataclass(frozen=True)
class Amount:
    """An amount of what jobs take."""

    cpus: int = option("hardware threads; -1: as many as there are", -1, low=-1)
    memory_mib: int = option("memory; -1: as much as there is", -1, low=-1)
    gpus: int = option("GPUs of any type; -1: as many as there are", -1, low=-1)
    nodes: int = option("nodes; -1: as many as there are", -1, low=-1)


@dataclass(frozen=True)
class Qos:
    """A quality of service: what a job may be worth, and whose jobs it may preempt."""

    name: str = option("name of the QOS; normal is the one that Slurm makes itself", pattern=NAME)
    priority: int = option("its weight among all QOS", 0, low=0, high=1000000)
    preempt: tuple[str, ...] = option("QOS whose jobs it preempts", (), pattern=NAME)
    preempt_mode: str = option(
        "what happens to its own jobs when they are preempted; cluster: preempt_mode of the cluster",
        "cluster",
        choices=("cluster", "requeue", "cancel"),
    )
    total: Amount = option("what all its running jobs take together at most", Amount())
    per_user: Amount = option("what one user's running jobs take together at most", Amount())
    per_job: Amount = option("what one job takes at most", Amount())
    jobs_per_user: int = option("running jobs of one user; -1: no limit", -1, low=-1)
    submits_per_user: int = option("running and waiting jobs of one user; -1: no limit", -1, low=-1)
    max_time: str = option(
        "longest time limit of a job: minutes, h:mm:ss or days-hours (empty: the partition's)",
        "",
        pattern=rf"({TIME})?",
    )


@dataclass(frozen=True)
class Account:
    """A Slurm account, its share of the cluster, and the Kubernetes namespace that its jobs use."""

    name: str = option("name of the account", pattern=NAME)
    namespace: str = option("namespace of its pods; at most 46 characters", "", pattern=rf"({NAME})?")
    users: tuple[str, ...] = option("login names", (), pattern=r"[a-z_][a-z0-9_-]*")
    parent: str = option("account above it, which shares with it", "root", pattern=NAME)
    fair_share: int = option("its share beside the accounts of the same parent", 1, low=0, high=1000000)
    qos: tuple[str, ...] = option(
        "QOS that its jobs may ask for; empty: the parent's, in the end normal", (), pattern=NAME
    )
    default_qos: str = option("QOS of jobs that ask for none (empty: the parent's)", "", pattern=rf"({NAME})?")
    total: Amount = option("what all its running jobs take together at most", Amount())
    per_job: Amount = option("what one job takes at most", Amount())
    jobs: int = option("running jobs; -1: no limit", -1, low=-1)
    submits: int = option("running and waiting jobs; -1: no limit", -1, low=-1)
    max_time: str = option("longest time limit of a job; empty: the parent's", "", pattern=rf"({TIME})?")


@dataclass(frozen=True)
class Absent:
    """What was declared once and must go. What was never declared is left alone, so going has to be said."""

    accounts: tuple[str, ...] = option(
        "accounts that must not be in the cluster's books, with their users", (), pattern=NAME
    )
    qos: tuple[str, ...] = option("qualities of service that must not be in the books", (), pattern=NAME)


@dataclass(frozen=True)
class Priority:
    """Who is next: each factor from 0 to 1 by its weight."""

    fair_share_weight: int = option("an account's unused share", 100000, low=0)
    qos_weight: int = option("the job's QOS, beside the one of the highest priority", 1000000, low=0)
    age_weight: int = option("waiting time, up to max_age", 10000, low=0)
    size_weight: int = option("the job's size", 0, low=0)
    max_age: str = option("after so long a job gets no older", "7-0", pattern=TIME)
    half_life: str = option("after so long use counts half", "7-0", pattern=TIME)
    recount_minutes: int = option("how often use is counted", 5, low=1, high=1440)


@dataclass(frozen=True)
class Health:
    """How nodes look after themselves: what they mount, munge, and GPUs against their class."""

    interval_s: int = option("how often each node looks, in seconds; 0: only at a playbook's proof", 300, low=0)


@dataclass(frozen=True)
class Gate:
    """How long the gate waits for what, when jobs of gated partitions begin and end."""

    patience_s: int = option("wait of a prolog or epilog for the API server, in seconds", 60, low=10, high=600)
    empty_s: int = option("wait of an epilog for its node to be empty; then the node is drained", 90, low=10, high=900)
    pod_grace_s: int = option("what a pod gets to end once its job is over", 10, low=1, high=120)
    tries: int = option("so often in a row a job's nodes may fail to open before the job is held", 5, low=1, high=20)
    pods_per_node: int = option(
        "pods of jobs for each gated node: bounds one workload, and all that is in a namespace of jobs",
        110,
        low=1,
        high=1000,
    )


@dataclass(frozen=True)
class Slurm:
    """drawbridge_slurm: the scheduler that owns every node."""

    cluster: str = option("ClusterName", pattern=NAME)
    controller: str = option("inventory name of the host of slurmctld and slurmdbd", pattern=NAME)
    partitions: tuple[Partition, ...] = option("partitions")
    accounts: tuple[Account, ...] = option("accounts", ())
    kill_wait_s: int = option("what a job gets between SIGTERM and SIGKILL (KillWait)", 30, low=5, high=3600)
    part_timeout_s: int = option("limit of each part of a prolog or epilog, in seconds", 300, low=30, high=3000)
    gate: Gate = option("limits of the gate, for partitions with gate: true", Gate())
    qos: tuple[Qos, ...] = option("qualities of service", ())
    absent: Absent = option("accounts and QOS that must not be there any more", Absent())
    priority: Priority = option("what a job's priority is made of", Priority())
    preempt_mode: str = option("what happens to a job that is preempted", "requeue", choices=("requeue", "cancel"))
    version: str = option("Slurm's release on all hosts", "24.11", choices=tuple(RELEASES))
    packages: str = option(
        "whose packages Slurm comes in: the distribution's on Debian and Ubuntu, OpenHPC's, or SchedMD's own",
        "debian",
        choices=tuple(PACKAGINGS),
    )
    health: Health = option("how nodes look after themselves between playbooks", Health())
    topology: str = option(
        "tree: jobs stay in one leaf when they fit; block: they get whole leaves; none: the network is flat",
        "tree",
        choices=("tree", "block", "none"),
    )
    settings: Mapping[str, str] = option(
        "the site's own lines of slurm.conf, such as SlurmdTimeout: '600' (words join lists that are there)",
        MappingProxyType({}),
        pattern=ONE_LINE,
    )


@dataclass(frozen=True)
class Filesystem:
    """A GPFS file system that nodes mount."""

    device: str = option("device name, as mmlsfs prints it", pattern=r"[A-Za-z0-9_.-]+")
    mount: str = option("its default mount point", pattern=PATH)


@dataclass(frozen=True)
class Gpfs:
    """drawbridge_gpfs: the Storage Scale cluster that is already there."""

    admin: str = option("inventory name of a member that may change the cluster", pattern=NAME)
    filesystems: tuple[Filesystem, ...] = option("file systems that nodes mount")
    cluster: str = option("its name, as mmlscluster prints it; empty: not compared", "", pattern=r"[A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Controllers:
    """Accounts (namespace/name) of controllers that make pods of jobs' workloads; empty: jobs have none of the kind."""

    jobset: str = option(
        "of JobSet, for JobSets; as it ships: jobset-system/jobset-controller-manager", "", pattern=rf"({ACCOUNT})?"
    )
    trainer: str = option(
        "of Kubeflow Trainer, for TrainJobs; as it ships: kubeflow-system/kubeflow-trainer-controller-manager",
        "",
        pattern=rf"({ACCOUNT})?",
    )
    training_operator: str = option(
        "of the training-operator, for PyTorchJobs; as it ships: kubeflow/training-operator",
        "",
        pattern=rf"({ACCOUNT})?",
    )


@dataclass(frozen=True)
class GpuOperator:
    """The GPU vendor's operator: device plugin, container toolkit, metrics. The driver is the host's."""

    install: bool = option("false: pods get GPUs by other means, and the chart is left alone", True)
    version: str = option("release of NVIDIA's chart, of those known", NVIDIA.version, choices=(NVIDIA.version,))
    namespace: str = option("namespace of the release", "gpu-operator", pattern=NAME)
    mig_strategy: str = option(
        "how GPUs that are cut up are named; jobs of gated partitions get whole ones",
        "single",
        choices=("none", "single"),
    )
    service_monitor: bool = option("true: Prometheus' operator is there, and is told of the GPUs' metrics", False)
    values: Mapping[str, Any] = option(
        "the site's own values of NVIDIA's chart, nested as the chart has them; they win over ours",
        MappingProxyType({}),
    )


@dataclass(frozen=True)
class RdmaResource:
    """What pods ask for as rdma/<name>."""

    name: str = option("name of the resource, with letters, digits and _", pattern=r"[a-zA-Z0-9_]+")
    rails: tuple[int, ...] = option("rails that it gives, all of them at once; the first is 0", low=0, high=63)


@dataclass(frozen=True)
class Rdma:
    """The plugin that gives pods the RDMA devices of their node."""

    install: bool = option("false: pods get RDMA devices by other means, under the same names", True)
    image: str = option(
        "image of the plugin, with its tag",
        f"{RDMA_PLUGIN.name}:{RDMA_PLUGIN.tag}",
        pattern=IMAGE,
    )
    namespace: str = option("namespace of its pods", "kube-system", pattern=NAME)
    resources: tuple[RdmaResource, ...] = option(
        "what pods may ask for (none: one resource a rail, rail0 and so on)", ()
    )
    share: int = option("pods that may have one resource of a node at a time (rdmaHcaMax)", 63, low=1, high=1000)
    look_again_s: int = option("how often devices are looked for, in seconds; 0: never again", 300, low=0, high=86400)


@dataclass(frozen=True)
class Package:
    """A package of the operating system, pinned."""

    name: str = option("name of the package", pattern=r"[a-z0-9][a-z0-9+.-]+")
    version: str = option("its version, in full, as the package manager writes it", pattern=r"[0-9][0-9A-Za-z.+:~-]*")


@dataclass(frozen=True)
class Registry:
    """A registry of images, and who is asked in its place."""

    name: str = option(
        "what images call it, such as nvcr.io; _default: all that are not listed",
        pattern=r"_default|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?",
    )
    mirrors: tuple[str, ...] = option(
        "URLs that are asked in its place, in this order", (), pattern=r"https?://[^\s\"]+"
    )
    ca: str = option("CA certificates of the mirrors, or of the registry, in PEM (empty: the host's own)", "")
    fallback: bool = option("true: the registry itself is asked when no mirror has an image", False)


@dataclass(frozen=True)
class Kube:
    """drawbridge_kube: the Kubernetes control plane that is already there, and what the nodes' kubelets do."""

    api_server: str = option("URL of the API server", pattern=r"https://[^/]+(:[0-9]+)?")
    ca_file: str = option("path on the nodes of the API server's CA certificate", pattern=PATH)
    infra: str = option("hostlist of nodes that run everything that is not a job, never gated", hosts=True)
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy, where a node class has none of its own",
        "best-effort",
        choices=TOPOLOGY_POLICIES,
    )
    infra_namespaces: tuple[str, ...] = option(
        "namespaces whose pods may run on gated nodes at any time: CNI, GPU and storage operators",
        ("kube-system",),
        pattern=NAME,
    )
    join: str = option(
        "who makes nodes members of the cluster: drawbridge, or site (then nodes are only looked at)",
        "drawbridge",
        choices=("drawbridge", "site"),
    )
    packages: tuple[Package, ...] = option("packages of the kubelet and of containerd on the nodes, pinned", ())
    sources: str = option("apt's sources of these packages, as a deb822 file (empty: those that nodes have)", "")
    sandbox_image: str = option(
        "image that is a part of every pod, beside its containers (pause), with its tag",
        f"{PAUSE.name}:{PAUSE.tag}",
        pattern=IMAGE,
    )
    registries: tuple[Registry, ...] = option("registries with mirrors, or with a CA of their own", ())
    schedulers: tuple[str, ...] = option(
        "Kubernetes users that may bind pods to nodes", ("system:kube-scheduler",), pattern=r"[A-Za-z0-9:._@-]+"
    )
    controllers: Controllers = option("what makes pods of jobs' workloads, beside Kubernetes itself", Controllers())
    tenant_roles: tuple[str, ...] = option(
        "ClusterRoles that may be bound in namespaces of jobs beside view and drawbridge-tenant; none of them may "
        "impersonate, evict, or change pods",
        (),
        pattern=r"[A-Za-z0-9:._-]+",
    )
    audiences: tuple[str, ...] = option(
        "what the API server calls itself in tokens (--api-audiences, or else --service-account-issuer)",
        ("https://kubernetes.default.svc.cluster.local", "https://kubernetes.default.svc"),
        pattern=r"[^\s'\"]+",
    )
    devices: tuple[str, ...] = option(
        "further resources of device plugins that pods of jobs may ask for, beside GPUs and those of rdma",
        (),
        pattern=r"[a-z0-9.-]+/[A-Za-z0-9._-]+",
    )
    gpu_operator: GpuOperator = option("the GPU vendor's operator", GpuOperator())
    rdma: Rdma = option("RDMA devices for pods", Rdma())


@dataclass(frozen=True)
class Intent:
    """The whole site."""

    fabric: Fabric = option("the network")
    nodes: Nodes = option("the nodes")
    slurm: Slurm = option("Slurm")
    gpfs: Gpfs = option("Storage Scale")
    kube: Kube = option("Kubernetes")
