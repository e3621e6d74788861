# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that show a pretended machine: path below the tree -> content.  Pure; the guest mounts the trees.

Three kinds of place: `bind/` is mounted over the path that it spells. `layer/` lies over the real directory so that
both show. `links` are symbolic links of a layer.  `fresh/` is copied at each boot and may be written: `fresh/irq` to
/proc/irq, the rest below /sys/kernel.  What the kubelet reads of /sys is what kubelet 1.36 was seen to open.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from lab.emulators.nodes.nvidia_smi import BUSES, NAME
from lab.emulators.nvml.state import proc
from lab.machine.hardware import Hardware, cpu_list

# The kubelet sets these at its start, unless they already hold these values; a guest may not set any.
KUBELET_SYSCTLS = {"vm/overcommit_memory": 1, "kernel/panic": 10, "kernel/panic_on_oops": 1}

NEAR, FAR = 10, 21
EMPTY = "fresh/debug/.lab"

PORT = {"class": "0x020000", "current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16"}
"""Files of the PCI function of each NIC: an Ethernet controller."""


@dataclass(frozen=True)
class Nic:
    """A model of NIC: vendor and device of the PCI database, driver, prefix of its RDMA devices, firmware's release."""

    vendor: str
    device: str
    driver: str
    rdma: str
    firmware: str
    counters: tuple[str, ...]
    """Of its RDMA devices, in Linux 6.12."""
    in_debugfs: bool
    """Congestion control has settings there."""


CONNECTX_7 = Nic(
    vendor="0x15b3",
    device="0x1021",
    driver="mlx5_core",
    rdma="mlx5_",
    firmware="28.43.1014",
    counters=(
        *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "out_of_sequence"),
        *("packet_seq_err", "local_ack_timeout_err", "out_of_buffer", "roce_adp_retrans", "duplicate_request"),
    ),
    in_debugfs=True,
)
THOR_2 = Nic(
    vendor="0x14e4",
    device="0x1760",
    driver="bnxt_en",
    rdma="bnxt_re",
    firmware="231.2.63.0",
    counters=(
        *("tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts", "oos_drop_count", "to_retransmits", "seq_err_naks_rcvd"),
        *("rnr_naks_rcvd", "rx_out_of_buffer", "rx_roce_discards", "tx_roce_discards", "rx_roce_errors", "dup_req"),
    ),
    in_debugfs=False,
)


def nic(hardware: Hardware) -> Nic:
    """Return the model of a machine's NICs: beside AMD's GPUs it is Broadcom's."""
    return THOR_2 if hardware.gpu_vendor == "amd" else CONNECTX_7


Files = dict[str, str]


def kubelet_prerequisites() -> Files:
    """Return stand-ins for the sysctls that a kubelet insists on."""
    return {f"bind/proc/sys/{name}": f"{value}\n" for name, value in KUBELET_SYSCTLS.items()}


def processors(hardware: Hardware) -> Files:
    """Return /sys/devices/system/{cpu,node}, /proc/meminfo and /proc/cpuinfo."""
    files = {f"bind/sys/devices/system/cpu/{name}": _cpus(hardware) for name in ("online", "present", "possible")}
    for node in range(hardware.numa_nodes):
        base = f"bind/sys/devices/system/node/node{node}"
        files |= {f"{base}/{name}": text for name, text in _node(hardware, node).items()}
        for cpu in hardware.cpus_of(node):
            topology = _topology(hardware, cpu, node)
            files |= {f"{base}/cpu{cpu}/topology/{name}": text for name, text in topology.items()}
            files |= {f"bind/sys/devices/system/cpu/cpu{cpu}/topology/{name}": t for name, t in topology.items()}
            files[f"bind/sys/devices/system/cpu/cpu{cpu}/online"] = "1\n"
    every = cpu_list(range(hardware.numa_nodes)) + "\n"
    files |= {f"bind/sys/devices/system/node/{name}": every for name in ("online", "possible", "has_cpu", "has_memory")}
    return files | {"bind/proc/meminfo": meminfo(hardware), "bind/proc/cpuinfo": cpuinfo(hardware)}


def meminfo(hardware: Hardware) -> str:
    """Return /proc/meminfo of a server that has just booted: 5 % of its memory is taken."""
    free = hardware.memory_kb * 95 // 100
    rows = {"MemTotal": hardware.memory_kb, "MemFree": free, "MemAvailable": free}
    zero = ("Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree", "Shmem", "SReclaimable")
    rows |= dict.fromkeys(zero, 0)
    pages = dict.fromkeys(("HugePages_Total", "HugePages_Free", "HugePages_Rsvd", "HugePages_Surp"), 0)
    lines = [f"{name + ':':<15} {kib:>8} kB" for name, kib in rows.items()]
    lines += [f"{name + ':':<15} {count:>8}" for name, count in pages.items()]
    return "\n".join([*lines, f"{'Hugepagesize:':<15} {2048:>8} kB", ""])


def _cpus(hardware: Hardware) -> str:
    return cpu_list(range(hardware.cpus)) + "\n"


def _node(hardware: Hardware, node: int) -> Files:
    total = hardware.memory_kb // hardware.numa_nodes
    used = total // 20
    sizes = {"MemTotal": total, "MemFree": total - used, "MemUsed": used}
    distances = (NEAR if other == node else FAR for other in range(hardware.numa_nodes))
    files = {
        "meminfo": "".join(f"Node {node} {name + ':':<15} {kib:>8} kB\n" for name, kib in sizes.items()),
        "distance": " ".join(map(str, distances)) + "\n",
        "cpulist": cpu_list(hardware.cpus_of(node)) + "\n",
        "cpumap": mask(hardware, hardware.cpus_of(node)) + "\n",
    }
    return files | {f"hugepages/hugepages-{size}kB/nr_hugepages": "0\n" for size in (2048, 1048576)}


def _topology(hardware: Hardware, cpu: int, node: int) -> Files:
    numbers = {"core_id": _core(hardware, cpu), "physical_package_id": node, "die_id": node, "cluster_id": node}
    numbers |= {"book_id": 0, "drawer_id": 0}
    sets = {"thread_siblings": hardware.siblings_of(cpu), "core_siblings": hardware.cpus_of(node)}
    lists = {f"{name}_list": cpu_list(cpus) for name, cpus in sets.items()}
    masks = {name: mask(hardware, cpus) for name, cpus in sets.items()}
    return {name: f"{value}\n" for name, value in (numbers | lists | masks).items()}


def _core(hardware: Hardware, cpu: int) -> int:
    return cpu % hardware.cpus_per_node // hardware.threads_per_core


def mask(hardware: Hardware, cpus: range) -> str:
    """Write CPUs as the kernel's bit mask: groups of eight hex digits, the highest CPUs first."""
    digits = f"{sum(1 << cpu for cpu in cpus):0{-(-hardware.cpus // 32) * 8}x}"
    return ",".join(digits[at : at + 8] for at in range(0, len(digits), 8))


def cpuinfo(hardware: Hardware) -> str:
    """Return the lines of /proc/cpuinfo that tell sockets, cores and threads apart; no kubelet starts without MHz."""
    blocks = []
    for cpu in range(hardware.cpus):
        fields = {
            "processor": cpu,
            "vendor_id": "GenuineIntel",
            "model name": "Intel(R) Xeon(R) Platinum 8462Y+",
            "cpu MHz": "2800.000",
            "physical id": cpu // hardware.cpus_per_node,
            "siblings": hardware.cpus_per_node,
            "core id": _core(hardware, cpu),
            "cpu cores": hardware.cores_per_socket,
            "flags": "fpu lm",
        }
        blocks.append("".join(f"{name}\t: {value}\n" for name, value in fields.items()))
    return "\n".join(blocks) + "\n"


def rails(hardware: Hardware) -> tuple[Files, dict[str, str]]:
    """Return the RDMA side of the ports as files and links: an RDMA device and railN are two views of a PCI function.

    Storage ports have the numbers after those of the rails.
    """
    model = nic(hardware)
    files: Files = {}
    links: dict[str, str] = {}
    ports = [(f"rail{port}", node) for port, node in enumerate(hardware.rail_numa)]
    ports += [(f"stor{port}", node) for port, node in enumerate(hardware.store_numa)]
    for rail, (name, node) in enumerate(ports):
        function = pci_address(rail)
        device, netdev = f"sys/devices/pci{function[:7]}/{function}", f"sys/devices/virtual/net/{name}"
        rdma = f"{device}/infiniband/{model.rdma}{rail}"
        about = {"vendor": model.vendor, "device": model.device, **PORT}
        about |= {"numa_node": str(node), "local_cpulist": cpu_list(hardware.cpus_of(node))}
        files |= {f"layer/{device}/{entry}": f"{text}\n" for entry, text in about.items()}
        # the veth behind it has 10 Gb/s
        files |= {f"layer/{netdev}/speed": "400000\n"}
        files |= {f"layer/{rdma}/{entry}": text for entry, text in _rdma(model, rail, name).items()}
        files[f"layer/{device}/hwmon/hwmon{rail}/temp1_input"] = "61000\n"
        files |= _settings(model, rail) | _interrupts(hardware, rail, device)
        pointers = {
            f"sys/class/infiniband/{model.rdma}{rail}": rdma,
            f"{rdma}/device": device,
            f"{device}/net/{name}": netdev,
            f"{netdev}/device": device,
            f"{device}/driver": f"sys/bus/pci/drivers/{model.driver}",
        }
        links |= {f"layer/{place}": posixpath.relpath(to, posixpath.dirname(place)) for place, to in pointers.items()}
    return files, links


def gpus(hardware: Hardware) -> Files:
    """Return the driver's file about each GPU, which has the number of its device file, and the CPUs near to it.

    `slurmd -C` reads both: with the first alone it ends with a segmentation fault.
    """
    about = "Model: \t\t {name}\nIRQ:   \t\t {irq}\nDevice Minor: \t {gpu}\n"
    files: Files = {}
    for gpu, node in enumerate(hardware.gpu_numa):
        address = f"0000:{BUSES[gpu].lower()}:00.0"
        files[f"bind/proc/driver/nvidia/gpus/{address}/information"] = about.format(name=NAME, irq=120 + gpu, gpu=gpu)
        near = cpu_list(hardware.cpus_of(node))
        files[f"layer/sys/bus/pci/drivers/nvidia/{address}/local_cpulist"] = f"{near}\n"
    return files | ({f"bind/proc/driver/{name}": text for name, text in proc(()).items()} if hardware.mig else {})


def _settings(model: Nic, rail: int) -> Files:
    """Return a port's settings after a boot: congestion control in debugfs, RDMA-CM's defaults in configfs.

    Directories of configfs exist as if another tool had made them. NVIDIA's operator has left DSCP 4 for CNPs.
    """
    debug = {"np_cnp_dscp": 4, "np_cnp_prio_mode": 0, "np_cnp_prio": 6, "np_min_time_between_cnps": 4}
    debug |= {"rp_gd": 11, "rp_ai_rate": 5}
    place = f"fresh/debug/mlx5/{pci_address(rail)}/cc_params"
    # the guest mounts the directory in any case
    congestion = {f"{place}/{name}": value for name, value in debug.items()} if model.in_debugfs else {EMPTY: ""}
    cm = {"default_roce_mode": "RoCE v2", "default_roce_tos": 0}
    defaults = {f"fresh/config/rdma_cm/{model.rdma}{rail}/ports/1/{name}": value for name, value in cm.items()}
    return {path: f"{value}\n" for path, value in {**congestion, **defaults}.items()}


def _interrupts(hardware: Hardware, rail: int, device: str) -> Files:
    """Return a port's interrupts. A balancer that knows no NUMA nodes lets all CPUs serve them."""
    numbers = range(200 + 2 * rail, 202 + 2 * rail)
    listed = {f"layer/{device}/msi_irqs/{number}": "msix\n" for number in numbers}
    return listed | {f"fresh/irq/{number}/smp_affinity_list": _cpus(hardware) for number in numbers}


def pci_address(rail: int) -> str:
    """Return a rail's PCI address; each one has a bus of its own."""
    return f"0000:{0x18 + 0x10 * rail:02x}:00.0"


def _rdma(model: Nic, rail: int, netdev: str) -> Files:
    guid = f"b83f:d203:00aa:{rail:04x}"
    port = {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "link_layer": "Ethernet",
        "rate": "400 Gb/sec (4X NDR)",
    }
    gids = (f"fe80:0000:0000:0000:{guid}", f"0000:0000:0000:0000:0000:ffff:0a4e:{rail:02x}15")
    # a port has each address twice, for RoCE v1 and v2
    for index, gid in enumerate(gid for gid in gids for _ in range(2)):
        kind = "RoCE v2" if index % 2 else "IB/RoCE v1"
        port |= {f"gids/{index}": gid, f"gid_attrs/types/{index}": kind, f"gid_attrs/ndevs/{index}": netdev}
    port |= {f"counters/{name}": "0" for name in ("link_downed", "link_error_recovery", "symbol_error")}
    port |= {f"hw_counters/{name}": "0" for name in model.counters} | {"hw_counters/lifespan": "10"}
    about = {"node_guid": guid, "sys_image_guid": guid, "node_type": "1: CA", "fw_ver": model.firmware}
    return {name: f"{text}\n" for name, text in (about | {f"ports/1/{key}": t for key, t in port.items()}).items()}
