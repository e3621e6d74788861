# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of one host: its GPUs, PCI devices, NICs and packet paths."""

from __future__ import annotations

from ..nodes.gpus.vendors import VENDORS
from .model import GPUS, NICS, Facts, Finding, Want


def _gpu_count(facts: Facts, want: Want) -> str:
    count = facts.get("gpus", {}).get("files", want["gpus"])
    return "" if count == want["gpus"] else f"it has {count} GPUs, its node class has {want['gpus']}"


def _gpu_vendor(facts: Facts, want: Want) -> str:
    others = facts.get("gpus", {}).get("foreign", {})
    found = ", ".join(f"{count} GPUs of {vendor}" for vendor, count in others.items())
    return f"it has {found}, its node class has {want['gpus']} of {want['gpu_vendor']}" if found else ""


def _gpu_plugin(facts: Facts, want: Want) -> str:
    plugins = facts.get("gpus", {}).get("plugins", ()) if want["gpus"] else ()
    return f"{', '.join(plugins)} is for GPUs of another vendor than {want['gpu_vendor']}" if plugins else ""


def _gpu_instances(facts: Facts, want: Want) -> str:
    lacking = facts.get("gpus", {}).get("lacking", ())
    return f"its node class has instances of GPUs, and the host lacks {', '.join(lacking)}" if lacking else ""


def _gpu_driver(facts: Facts, want: Want) -> str:
    gpus = facts.get("gpus")
    if not gpus or not want["gpus"] or gpus["drivers"]:
        return ""
    return f"the GPU driver does not answer: {gpus['error'] or 'its tool lists no GPU'}"


def _gpu_state(facts: Facts, want: Want) -> str:
    """Without an answer of the driver, there is another finding."""
    return "; ".join(facts.get("state", {}).get("gpus", ())) if facts.get("gpus", {}).get("drivers") else ""


def _nic_state(facts: Facts, want: Want) -> str:
    """Without a device, there is another finding."""
    return "" if _nic_missing(facts, want) else "; ".join(facts.get("state", {}).get("rails", ()))


def _fabric_manager(facts: Facts, want: Want) -> str:
    gpus = facts.get("gpus", {})
    down = gpus.get("switches") and gpus["manager"] != "active"
    unit = VENDORS[want["gpu_vendor"]].switch_unit
    return f"it has switches between GPUs, and {unit} is {gpus['manager'] or 'not installed'}" if down else ""


def _peermem(facts: Facts, want: Want) -> str:
    gpus = facts.get("gpus", {})
    vendor = VENDORS[want["gpu_vendor"]]
    needed = want["gpus"] and want["netdevs"] and vendor.needs_peer_memory(gpus.get("loaded", ""))
    missing = needed and not gpus["peermem"]
    return f"the closed GPU driver has no dma-buf, and {vendor.peer_memory} is not loaded" if missing else ""


def _iommu(facts: Facts, want: Want) -> str:
    words = set(facts.get("system", {}).get("command_line", "").split())
    through = {"iommu=pt", "iommu.passthrough=1"} & words
    on = sorted({"intel_iommu=on", "amd_iommu=on", "iommu=on"} & words)
    translated = sorted(kind for kind in facts.get("pci", {}).get("iommu", ()) if kind.startswith("DMA"))
    used = [*on, *translated] if want["gpus"] and not through else []
    return f"the IOMMU translates DMA ({', '.join(used)})" if used else ""


def _acs(facts: Facts, want: Want) -> str:
    bridges = facts.get("pci", {}).get("acs")
    return f"ACS redirects peer traffic at PCI bridges {', '.join(bridges)}" if bridges and want["gpus"] else ""


def _nic_missing(facts: Facts, want: Want) -> str:
    nics = facts.get("nics", {})
    missing = [*nics.get("missing", ()), *nics.get("rdma_missing", ())]
    return f"its node class has {', '.join(missing)}, the host does not" if missing else ""


def _lldpad(facts: Facts, want: Want) -> str:
    return "lldpad runs" if want["netdevs"] and facts.get("system", {}).get("lldpad") else ""


def _mlnx_qos(facts: Facts, want: Want) -> str:
    error = facts.get("nics", {}).get("mlnx_qos", "")
    return error if want["mlnx_qos"] else ""


def _mtu(facts: Facts, want: Want) -> str:
    bad = [
        f"{one['to']} by {one['by']}: {one['mtu']} bytes pass only in fragments"
        if one["split"]
        else f"{one['to']} by {one['by']}: {one['mtu']} bytes do not pass"
        for one in facts.get("mtu", ())
        if not one["whole"]
    ]
    return "; ".join(bad)


def _cabling(facts: Facts, want: Want) -> str:
    seen = facts.get("nics", {}).get("lldp", {})
    wrong = [
        f"{device} is at {' '.join(filter(None, seen[device]))}, not {' '.join(filter(None, place))}"
        for device, place in want["cables"].items()
        if device in seen and _differs(seen[device], place)
    ]
    return "; ".join(wrong)


def _differs(seen: tuple[str, str], place: tuple[str, str]) -> bool:
    switch, port = place
    return seen[0].split(".")[0] != switch or bool(port and seen[1] and seen[1] != port)


TABLE = (
    Finding(
        "gpu_count",
        GPUS,
        "the number of GPU device files differs from the node class",
        "a run drains the node",
        "repair the GPUs, or change gpus of the node class",
        _gpu_count,
    ),
    Finding(
        "gpu_vendor",
        GPUS,
        "the host has GPUs of another vendor than its node class",
        "a run drains the node",
        "correct vendor, type and minors in gpus of the node class, or move the host to another class",
        _gpu_vendor,
    ),
    Finding(
        "slurm_gpu_plugin",
        GPUS,
        "Slurm's plugin for GPUs of another vendor is installed",
        "slurmd -C can crash, and the node can't be compared with its class",
        "remove the package with the plugin that the finding names",
        _gpu_plugin,
    ),
    Finding(
        "gpu_instances",
        GPUS,
        "a program that divides GPUs into instances, or Slurm's plugin that detects them, is missing",
        "the node has no instances, and Slurm starts no job on it",
        "install what the finding names",
        _gpu_instances,
    ),
    Finding(
        "gpu_driver",
        GPUS,
        "the GPU driver's tool is missing, fails, or differs from the loaded driver, or the driver is not loaded",
        "no job can use a GPU",
        "install the driver, load it, and boot after an upgrade",
        _gpu_driver,
    ),
    Finding(
        "gpu_state",
        GPUS,
        "a state check of GPUs in docs/concepts/proof-checks.md has a finding",
        "jobs on the node fail, or are slower than on others",
        "look at what the page says about the check",
        _gpu_state,
    ),
    Finding(
        "fabric_manager",
        GPUS,
        "the host has switches between GPUs, but their manager does not run",
        "CUDA fails on all GPUs of the host",
        "install the unit that the finding names in the driver's version, and enable it",
        _fabric_manager,
    ),
    Finding(
        "gpu_direct",
        GPUS,
        "the closed GPU driver is loaded without its module for peer memory",
        "NICs copy GPU memory through host memory",
        "load the module that the finding names at each boot, or install the open kernel modules",
        _peermem,
    ),
    Finding(
        "iommu_on",
        GPUS,
        "the IOMMU of a GPU node translates DMA",
        "traffic between GPUs and NICs is slow or fails",
        "boot with iommu=pt, or turn the IOMMU off",
        _iommu,
    ),
    Finding(
        "acs_on",
        GPUS,
        "PCI bridges of a GPU node have ACS redirection on",
        "traffic between GPUs and NICs passes the root complex",
        "turn ACS off in the BIOS, or clear it with setpci at each boot",
        _acs,
    ),
    Finding(
        "nic_missing",
        NICS,
        "a network or RDMA device of the node class does not exist",
        "a run fails on this host",
        "repair the NIC, or correct nics of the node class",
        _nic_missing,
    ),
    Finding(
        "nic_state",
        NICS,
        "the PCIe link of a NIC carries less than its line rate, or its module reports an alarm",
        "jobs on the node are slower than on others",
        "look at what docs/concepts/proof-checks.md says about the check",
        _nic_state,
    ),
    Finding(
        "lldpad_running",
        NICS,
        "lldpad runs on a host with RDMA ports",
        "lldpad overwrites the QoS of the ports",
        "run systemctl disable --now lldpad.socket lldpad.service",
        _lldpad,
    ),
    Finding(
        "mlnx_qos",
        NICS,
        "neither mlnx_qos nor dcb can read a port",
        "a run can't make the lossless class on the NICs",
        "install the mlnx-tools of DOCA-OFED, in a version for the kernel",
        _mlnx_qos,
    ),
    Finding(
        "mtu_path",
        NICS,
        "small packets pass a path, but packets of the device's MTU with the don't-fragment bit do not",
        "connections hang when they send much",
        "set one MTU on both hosts and on all switch ports between them",
        _mtu,
    ),
    Finding(
        "cabling",
        NICS,
        "lldpctl shows another switch or port than the intent",
        "a change drains the wrong nodes, and rails are mixed",
        "move the cable, or correct leaves and cabling in the intent",
        _cabling,
    ),
)
