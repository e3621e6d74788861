# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node without faults: what its files and tools say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    Check,
    Output,
    Program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Found
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail

from tests.unit.module_utils.proof.transcripts import changed, printed

PRODUCT = "NVIDIA H100 80GB HBM3"
RAILS = tuple(ProofRail(f"rail{at}", f"mlx5_{at}", 400) for at in range(2))
NODE = ProofNode("gpu01", "h100", RAILS, mtu_bytes=9000, priority=3, gpus=2, gpu_vendor="nvidia", gpu_product=PRODUCT)
SMI, NVLINK, DMESG = ("nvidia-smi", "-q", "-x"), ("nvidia-smi", "nvlink", "-s"), ("dmesg",)
UNITS = ("nvidia-fabricmanager", "nvidia-persistenced")
SYSTEMCTL = ("systemctl", "show", "--property=Id,LoadState,ActiveState,SubState", "--")
CHRONY = ("chronyc", "-c", "tracking")
TIMEDATECTL = ("timedatectl", "show", "--property=NTP", "--property=NTPSynchronized")
DF = ("df", "--output=pcent,ipcent,target", "--", "/", "/var", "/tmp", "/dev/shm")


def xml(gpus: int = 2) -> str:
    """The XML of a board with switches: the real GPU that many times, with the fabric's state of such boards."""
    head, gpu, tail = re.split(r"(\t<gpu .*</gpu>\n)", printed("nvidia_smi_xml"), flags=re.DOTALL)
    for name, value in (("state", "Completed"), ("status", "Success"), ("summary", "Healthy")):
        gpu = changed(gpu, f"<{name}>N/A<", f"<{name}>{value}<")
    return (
        head + "".join(gpu.replace("00000000:00:06.0", f"00000000:{0x1B + at:02X}:00.0") for at in range(gpus)) + tail
    )


def shown(unit: str, active: str = "active", sub: str = "running", loaded: str = "loaded") -> str:
    """What systemctl shows of a unit."""
    return f"Id={unit}.service\nLoadState={loaded}\nActiveState={active}\nSubState={sub}\n"


def files(rail: ProofRail) -> dict[str, str]:
    net, port = f"/sys/class/net/{rail.netdev}", f"/sys/class/infiniband/{rail.rdma}/ports/1"
    device = f"/sys/class/infiniband/{rail.rdma}/device"
    gids = ("fe80:0000:0000:0000:b83f:d203:00aa:0000", "0000:0000:0000:0000:0000:ffff:0a4e:0115")
    found = {f"{port}/gids/{at}": gids[at // 2] for at in range(4)}
    found |= {f"{port}/gid_attrs/types/{at}": "RoCE v2" if at % 2 else "IB/RoCE v1" for at in range(4)}
    found |= {f"{port}/gid_attrs/ndevs/{at}": rail.netdev for at in range(4)}
    found |= {f"{port}/gids/4": "0000:0000:0000:0000:0000:0000:0000:0000"}
    found |= {
        f"{net}/operstate": "up",
        f"{net}/speed": "400000",
        f"{net}/mtu": "9000",
        f"{net}/carrier_down_count": "4",
    }
    found |= {f"{port}/state": "4: ACTIVE", f"{port}/phys_state": "5: LinkUp", f"{port}/rate": "400 Gb/sec (4X NDR)"}
    found |= {f"{port}/counters/symbol_error": "0", f"{port}/hw_counters/rp_cnp_ignored": "0"}
    found |= {f"{device}/current_link_speed": "32.0 GT/s PCIe", f"{device}/current_link_width": "16"}
    return {path: f"{text}\n" for path, text in found.items()}


TEXTS = {path: text for rail in RAILS for path, text in files(rail).items()} | {"/proc/uptime": "36000.12 999.9\n"}
SYSTEM = {
    "/proc/meminfo": "MemTotal:       2113405212 kB\nMemFree:  2000000000 kB\nMemAvailable:   2080000000 kB\n"
    "Hugetlb:         1048576 kB\n",
    "/proc/self/mounts": "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\ntmpfs /dev/shm tmpfs rw,nosuid 0 0\n",
    "/sys/class/nvme/nvme0/state": "live\n",
    "/sys/class/nvme/nvme1/state": "live\n",
    "/sys/devices/system/edac/mc/mc0/ue_count": "0\n",
}
"""Files of a node's system; the forms of the texts are the kernel's."""
OUTPUTS = {
    # forms of chrony 4, systemd 255 and coreutils 9
    CHRONY: "C0A80101,192.168.1.1,3,1732630000.123456789,0.000006523,-0.000006747,0.000035822,-13.256,0.000,0.026,"
    "0.012340000,0.001230000,64.5,Normal\n",
    TIMEDATECTL: "NTP=yes\nNTPSynchronized=yes\n",
    DF: "Use% IUse% Mounted on\n 17%    4% /\n 17%    4% /\n 17%    4% /\n  1%    1% /dev/shm\n",
    (*SYSTEMCTL, *UNITS): "\n".join(map(shown, UNITS)),
    (*SYSTEMCTL, UNITS[1]): shown(UNITS[1]),
    SMI: xml(),
    NVLINK: printed("nvidia_smi_nvlink"),
    DMESG: printed("dmesg").partition("[ 9001")[0],
    **{("ethtool", "-m", rail.netdev): printed("ethtool_optics") for rail in RAILS},
    **{("ethtool", "-S", rail.netdev): printed("ethtool_counters") for rail in RAILS},
    **{("ethtool", "-I", "--show-fec", rail.netdev): printed("ethtool_fec") for rail in RAILS},
}


def found(
    check: Check,
    node: ProofNode = NODE,
    outputs: Mapping[tuple[str, ...], str | Output] | None = None,
    texts: Mapping[str, str | None] | None = None,
) -> list[Found]:
    """What the check found, with other outputs and files than the healthy ones; None: the file can't be read."""
    said = {**OUTPUTS, **(outputs or {})}
    files_of = {path: text for path, text in {**TEXTS, **(texts or {})}.items() if text is not None}
    [(_check, result)] = collect.results([check], node, ran(said, collect.programs([check], node)), files_of)
    return result


def words(program: Program) -> tuple[str, ...]:
    """The command without the environment before it."""
    at = next(at for at, word in enumerate(program.argv) if at > 1 and "=" not in word)
    return program.argv[at:]


def ran(said: Mapping[tuple[str, ...], str | Output], programs: Sequence[Program]) -> list[tuple[Program, Output]]:
    answers = [said[words(one)] for one in programs]
    outputs = [one if isinstance(one, Output) else Output(one, "", 0) for one in answers]
    return [(program, output) for program, output in zip(programs, outputs)]
