# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a node's hardware as its files and tools show them, and how each must be named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FABRIC,
    HEALS,
    NODE,
    REBOOT,
    REPAIR,
    USER,
    Finding,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look import HELD
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output

from tests.unit.module_utils.health.emulated_node import NHC, EmulatedNode
from tests.unit.module_utils.proof.checks.healthy import CHRONY, DF, DMESG, NVLINK, SMI, SYSTEMCTL, UNITS, shown, xml
from tests.unit.module_utils.proof.transcripts import changed

NET, PORT, DEVICE = (
    "/sys/class/net/rail1",
    "/sys/class/infiniband/mlx5_1/ports/1",
    "/sys/class/infiniband/mlx5_1/device",
)
Plant = Callable[[EmulatedNode], None]


@dataclass(frozen=True)
class Planted:
    """A fault, and its finding. `text` is the start of it, `words` are in the rest."""

    plant: Plant
    text: str
    words: str
    fault: str = NODE
    ends: str = HEALS
    also: tuple[str, ...] = ()
    """Starts of further findings that the same fault has."""

    def fits(self, found: tuple[Finding, ...]) -> bool:
        """Whether these are the findings of this fault."""
        first = [it for it in found if it.text.startswith(self.text) and self.words in it.text]
        rest = [it for it in found if it not in first]
        named = len(first) == 1 and (first[0].fault, first[0].ends) == (self.fault, self.ends)
        return named and len(rest) == len(self.also) and all(map(_begins, rest, self.also))


def _begins(finding: Finding, text: str) -> bool:
    return str(finding).startswith(text)


def files(texts: Mapping[str, str], past: bool = False) -> Plant:
    """Other texts of files: of rail1, or by a whole path. With `past`, a look before them made a sample of counters."""

    def plant(node: EmulatedNode) -> None:
        if past:
            assert node.look() == ()
            node.pass_time(300.0)
        node.texts.update(texts)

    return plant


def tool(argv: tuple[str, ...], old: str, new: str) -> Plant:
    """Another text in the output of a tool."""

    def plant(node: EmulatedNode) -> None:
        said = node.said[argv]
        assert isinstance(said, str)
        node.said[argv] = changed(said, old, new)

    return plant


def port(word: str, old: str, new: str) -> Plant:
    """Another text in an answer of ethtool about rail1."""
    words = {"optics": ("-m",), "counters": ("-S",), "fec": ("-I", "--show-fec")}
    return tool(("ethtool", *words[word], "rail1"), old, new)


def gpu(name: str, old: str, new: str, argv: tuple[str, ...] = SMI) -> Plant:
    """Another text of GPU 1: the value of an element of XML, or a part of the links' state."""

    def plant(node: EmulatedNode) -> None:
        first, mark, rest = str(node.said[argv]).partition('<gpu id="00000000:1C' if argv == SMI else "GPU 1:")
        before, after = (f"<{name}>{old}", f"<{name}>{new}") if argv == SMI else (old, new)
        node.said[argv] = first + mark + changed(rest, before, after)

    return plant


def log(line: str) -> Plant:
    """A line at the end of the kernel's log."""
    return lambda node: node.said.update({DMESG: f"{node.said[DMESG]}[ 9001.200002] {line}\n"})


def says(argv: tuple[str, ...], output: str | Output) -> Plant:
    """Another answer of a tool."""
    return lambda node: node.said.update({argv: output})


def of_eight(node: EmulatedNode) -> None:
    """A node whose GPUs are joined by switches."""
    node.settings = replace(node.settings, node=replace(node.settings.node, gpus=8))
    node.said[SMI] = xml(8)


def both(*plants: Plant) -> Plant:
    """Several signs of one fault."""

    def plant(node: EmulatedNode) -> None:
        for one in plants:
            one(node)

    return plant


DOWN = {
    **{f"{NET}/operstate": "down\n", f"{NET}/speed": "-1\n", f"{PORT}/state": "1: DOWN\n"},
    **{f"{PORT}/phys_state": "3: Disabled\n", f"{PORT}/rate": "10 Gb/sec (4X SDR)\n"},
}
ACTIVE = "clocks_event_reason_hw_thermal_slowdown"
XID = "NVRM: Xid (PCI:0000:1c:00): 62"
LOG = "GPU faults in the log: "
FAULTS: dict[str, Planted] = {
    # rails
    "dead rail": Planted(files(DOWN), "rail1: rail link: ", "rail1 is down", FABRIC),
    "slow rail": Planted(
        files({f"{NET}/speed": "200000\n", f"{PORT}/rate": "200 Gb/sec (4X HDR)\n"}),
        *("rail1: rail link: ", "200000 Mb/s", FABRIC),
    ),
    "NIC with half a link": Planted(files({f"{DEVICE}/current_link_width": "8\n"}), "rail1: rail PCIe: ", "28.8 GB/s"),
    "NIC at an old generation": Planted(
        files({f"{DEVICE}/current_link_speed": "16.0 GT/s PCIe\n"}), "rail1: rail PCIe: ", "below"
    ),
    "MTU mismatch": Planted(files({f"{NET}/mtu": "1500\n"}), "rail1: rail MTU: ", "1500"),
    "address lost": Planted(
        files({f"{PORT}/gids/{at}": "fe80:0000:0000:0000:b83f:d203:00aa:0000\n" for at in (2, 3)}),
        *("rail1: rail GID: ", "no RoCE v2 GID"),
    ),
    "dim optics": Planted(
        port("optics", "rx power low alarm    (Channel 2)   : Off", "rx power low alarm    (Channel 2)   : On"),
        *("rail1: optics: ", "alarm of the module"),
    ),
    "bad cable": Planted(
        port("counters", "rx_pcs_symbol_err_phy: 311", "rx_pcs_symbol_err_phy: 99311"),
        *("rail1: rail errors: ", "rx_pcs_symbol_err_phy is 99311", FABRIC),
    ),
    "blocks beyond repair": Planted(
        port("fec", "uncorrectable_blocks: 0", "uncorrectable_blocks: 40000"),
        *("rail1: rail errors: ", "uncorrectable_blocks is 40000", FABRIC),
    ),
    "flapping link": Planted(
        files({f"{NET}/carrier_down_count": "40\n"}), "rail1: rail errors: ", "went down 40 times", FABRIC
    ),
    "drops in the lossless class": Planted(
        port("counters", "rx_prio3_discards: 0", "rx_prio3_discards: 12"), "rail1: rail drops: ", "is 12", FABRIC
    ),
    "link that fails now": Planted(
        files({f"{PORT}/counters/link_downed": "1\n"}, past=True), "rail1: rail rates: ", "link_downed", FABRIC
    ),
    "symbols that are lost now": Planted(
        files({f"{PORT}/counters/symbol_error": "400\n"}, past=True), "rail1: rail rates: ", "symbol_error", FABRIC
    ),
    "packets with errors now": Planted(
        files({f"{PORT}/counters/port_rcv_errors": "9000\n"}, past=True), "rail1: rail rates: ", "rcv_errors", FABRIC
    ),
    # GPUs
    "missing GPU": Planted(
        both(says(SMI, xml(1)), log("NVRM: Xid (PCI:0000:1c:00): 79, GPU has fallen off the bus.")),
        *("GPUs present: ", "1 GPUs of 2", NODE, REBOOT),
        also=(f"[node reboot] GPU 0000:1c:00.0: {LOG}Xid 79",),
    ),
    "wrong GPU": Planted(
        gpu("product_name", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"),
        *("GPU 1: GPU product: ", "H100 PCIe", NODE, REPAIR),
    ),
    "mode for instances": Planted(
        gpu("current_mig", "Disabled", "Enabled"), "GPU 1: GPU instances: ", "run nvidia-smi -i 1 -mig 0"
    ),
    "GPU with half a link": Planted(gpu("current_link_width", "16x", "8x"), "GPU 1: GPU PCIe: ", "Gen5 x8"),
    "NVLink down": Planted(
        gpu("", "Link 2: 26.562 GB/s", "Link 2: <inactive>", NVLINK), "GPU 1: GPU link state: ", "links 2 are down"
    ),
    "switches not ready": Planted(gpu("state", "Completed", "In Progress"), "GPU 1: GPU fabric: ", "In Progress"),
    "ECC errors": Planted(
        gpu("dram_uncorrectable", "0", "3"), "GPU 1: GPU memory errors: ", "3 uncorrected", NODE, REBOOT
    ),
    "worn SRAM": Planted(
        gpu("sram_threshold_exceeded", "No", "Yes"), "GPU 1: GPU memory errors: ", "SRAM", NODE, REPAIR
    ),
    "channel that waits for its repair": Planted(
        gpu("channel_repair_pending", "No", "Yes"), "GPU 1: GPU memory errors: ", "channel", NODE, REBOOT
    ),
    "remapped row": Planted(
        gpu("remapped_row_pending", "No", "Yes"), "GPU 1: GPU memory rows: ", "waits for a reset", NODE, REBOOT
    ),
    "no row left": Planted(
        gpu("remapped_row_failure", "No", "Yes"), "GPU 1: GPU memory rows: ", "replace the GPU", NODE, REPAIR
    ),
    "throttled GPU": Planted(gpu(ACTIVE, "Not Active", "Active"), "GPU 1: GPU clocks: ", "hw thermal slowdown"),
    "low power limit": Planted(gpu("current_power_limit", "700", "500"), "GPU 1: GPU power limit: ", "500 W"),
    "hot GPU": Planted(gpu("gpu_temp_tlimit", "50 C", "-2 C"), "GPU 1: GPU temperature: ", "slows down"),
    "driver asks for a reset": Planted(
        gpu("gpu_recovery_action", "None", "Reset"), "GPU 1: GPU recovery: ", "Reset", NODE, REBOOT
    ),
    "driver asks for a drain": Planted(
        gpu("gpu_recovery_action", "None", "Drain P2P"), "GPU 1: GPU recovery: ", "Drain P2P", NODE, REPAIR
    ),
    "double bit error": Planted(
        log("NVRM: Xid (PCI:0000:1c:00): 48, pid=1234, name=python3, DBE (double bit error) detected"),
        *(f"GPU 1: {LOG}", "Xid 48", NODE, REBOOT),
    ),
    "row that was not remapped": Planted(
        log("NVRM: Xid (PCI:0000:1c:00): 64, Row Remapper: Error"), f"GPU 1: {LOG}", "Xid 64", NODE, REPAIR
    ),
    "fatal error of a switch": Planted(
        log("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 24007, Fatal, Link 02 sourcetrack timeout"),
        *(f"switch 0000:c1:00.0: {LOG}", "SXid 24007", NODE, REBOOT),
    ),
    "error that the log soon forgets": Planted(
        lambda node: node.said.update({DMESG: [f"{node.said[DMESG]}[ 1.2] {XID}, GPU error\n", str(node.said[DMESG])]}),
        *(f"GPU 1: {LOG}", "Xid 62", NODE, REBOOT),
    ),
    "port's driver hangs": Planted(
        says(("ethtool", "-S", "rail1"), Output("", "", 124)), "rail1: rail errors: ", "ethtool does not answer"
    ),
    "driver hangs": Planted(says(SMI, Output("", "", 124)), "GPUs present: ", "nvidia-smi does not answer"),
    "driver hangs in the kernel": Planted(
        says(SMI, Output("", "", HELD)), "GPUs present: ", "still hangs", NODE, REBOOT
    ),
    # system
    "manager of the switches": Planted(
        both(of_eight, says((*SYSTEMCTL, *UNITS), f"{shown(UNITS[0], 'failed', 'failed')}\n{shown(UNITS[1])}")),
        *("GPU units: ", "nvidia-fabricmanager"),
    ),
    "memory module": Planted(
        files({"/proc/meminfo": "MemTotal: 1979711488 kB\nMemAvailable: 1900000000 kB\n"}),
        *("memory size: ", "1933312 MiB"),
    ),
    "errors of memory": Planted(
        files({"/sys/devices/system/edac/mc/mc0/ue_count": "2\n"}), "mc0: memory errors: ", "2 errors", NODE, REBOOT
    ),
    "dead disk": Planted(files({"/sys/class/nvme/nvme1/state": "dead\n"}), "nvme1: disk state: ", "dead"),
    "broken file system": Planted(
        files({"/proc/self/mounts": "/dev/nvme0n1p2 / ext4 ro,relatime 0 0\n"}), "/: read-only file systems: ", "ext4"
    ),
    "wrong clock": Planted(tool(CHRONY, ",0.000006523,", ",2.500000000,"), "clock: ", "2.5 s off"),
    "full disk": Planted(tool(DF, " 17%    4% /\n", " 99%    4% /\n"), "/: disk space: ", "99 %", USER),
    "finding of NHC": Planted(
        says((NHC, "MARK_OFFLINE=0", "DETACHED_MODE=0"), Output("", "ERROR:  nhc:  Health check failed:  no ib0\n", 1)),
        *("nhc: ", "no ib0"),
    ),
}
HARDWARE = [name for name, it in FAULTS.items() if it.fault != USER and name != "finding of NHC"]
