# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric: one lossless class, the same on every link, and the switches that carry it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Optional

from ..core import hostlist
from ..core import ports as port_lists
from ..core.options import HOSTS, Shape, option
from .cables.model import PORTS, Cabling
from .dcqcn.model import Dcqcn
from .nos.systems import ASICS, CHIPS, SYSTEMS

DCQCN, OFF, ADAPTIVE = "dcqcn", "off", "adaptive_routing"
CONGESTION_CONTROLS = (DCQCN, OFF, ADAPTIVE)
ROCE = "roce"
"""Equal paths by all that tells RoCE flows apart."""
ROCE_BYTES = 20
"""A RoCE frame is up to so much longer than the host's MTU."""
CHANNEL = Shape(
    r"[A-Za-z][A-Za-z0-9_.-]{0,30}",
    "the name of a port-channel",
    "at most 31 letters, digits, dots, dashes and underscores, such as Port-Channel1",
)
"""On any system. A rule knows each system's own."""


@dataclass(frozen=True)
class Roce:
    """The lossless traffic class of GPU traffic."""

    priority: int = option("priority that PFC keeps lossless, on switches and NICs", low=0, high=7)
    dscp: int = option("DSCP that marks the class on the wire", low=0, high=63)
    bandwidth_percent: int = option("share that the class gets when a link is full", 50, low=1, high=99)
    ecn_min_bytes: int = option("queue depth from which packets are ECN-marked", 150000, low=1000)
    ecn_max_bytes: int = option("queue depth from which ecn_probability_percent are marked", 1500000, low=1000)
    ecn_probability_percent: int = option("marking probability at ecn_max_bytes", 100, low=1, high=100)


@dataclass(frozen=True)
class Cnp:
    """Congestion notification packets: strict priority, lossy, never paused."""

    priority: int = option("priority of congestion notifications", 6, low=0, high=7)
    dscp: int = option("DSCP of congestion notifications", 48, low=0, high=63)


@dataclass(frozen=True)
class Storage:
    """The traffic class of the file system, beside that of GPU traffic."""

    priority: int = option("priority of storage traffic, on switches and NICs", low=0, high=7)
    dscp: int = option("DSCP that marks storage traffic on the wire", low=0, high=63)
    bandwidth_percent: int = option("share that the class gets when a link is full", 30, low=1, high=98)
    lossless: bool = option("true: PFC keeps it lossless too, and ECN marks it as the GPU class", False)


@dataclass(frozen=True)
class Watchdog:
    """How a switch treats a queue that stays paused."""

    detect_ms: int = option("time paused after which a queue counts as stuck", 200, low=100, high=5000)
    restore_ms: int = option("time unpaused after which a queue no longer counts as stuck", 200, low=100, high=60000)
    poll_ms: int = option("interval at which queues are checked", 100, low=50, high=1000)
    action: str = option("what happens to packets of a stuck queue", "drop", choices=("drop", "forward"))


@dataclass(frozen=True)
class Channel:
    """Port-channels, also called LAGs or bonds: their members carry the classes, and they have their MTU."""

    name: str = option(
        "name, as the system writes it: Port-Channel1, bond1, PortChannel1; or a hostlist such as Port-Channel[1-16]",
        hosts=CHANNEL,
    )
    members: str = option(
        "its ports, which are in C(ports) of the switches too; of several, equally many, one after the other",
        pattern=PORTS,
    )

    @property
    def ports(self) -> list[str]:
        """The members, one a name. Raises PortsError."""
        return port_lists.expand(self.members)

    @property
    def each(self) -> tuple[Channel, ...]:
        """One entry for each name. Raises PortsError."""
        names, ports = hostlist.expand(self.name), self.ports
        size = len(ports) // len(names)
        return tuple(
            Channel(name, ",".join(ports[at * size : (at + 1) * size])) for at, name in enumerate(names if size else ())
        )


@dataclass(frozen=True)
class Switches:
    """Switches of one kind."""

    names: str = option("hostlist of the switches, as in the inventory", hosts=HOSTS)
    tier: str = option("leaf (nodes are cabled to it) or spine", choices=("leaf", "spine"))
    platform: str = option("network operating system", choices=tuple(SYSTEMS))
    ports: str = option(
        "ports that carry the lossless class, as the system writes them: Ethernet1-32, Ethernet1/1-64/1, swp1s0-1,"
        " et-0/0/0-31, Ethernet0-248:8 (every eighth)",
        pattern=PORTS,
    )
    asic: str = option("switch ASIC, by its chip or its family; it decides queues and maps", "xgs", choices=ASICS)
    channels: tuple[Channel, ...] = option("port-channels of these ports; Drawbridge does not make them", ())
    pairs: tuple[str, ...] = option(
        "MLAG pairs of these switches, also called vPC or VLT, or two that share bonds by EVPN: hostlists of two names."
        " The second one changes after the first",
        (),
        hosts=HOSTS,
    )
    ecn_min_bytes: int = option("C(roce.ecn_min_bytes) of these switches alone (0: as in C(roce))", 0, low=0)
    ecn_max_bytes: int = option("C(roce.ecn_max_bytes) of these switches alone (0: as in C(roce))", 0, low=0)
    cable_m: int = option(
        "length in metres for which these switches divide their buffers (0: Drawbridge does not configure it)",
        0,
        low=0,
        high=100000,
    )
    lossless_buffer_percent: int = option(
        "share of the buffers for lossless traffic on these switches (0: Drawbridge does not configure it)",
        0,
        low=0,
        high=99,
    )
    queue_buffer_bytes: int = option(
        "buffer that one lossless queue can fill, for systems that take ECN thresholds in percent of it"
        " (0: the ASIC's own)",
        0,
        low=0,
    )

    @property
    def port_channels(self) -> list[Channel]:
        """The port-channels one by one. Raises PortsError."""
        return [one for entry in self.channels for one in entry.each]

    def marking(self, roce: Roce) -> Roce:
        """The lossless class as these switches mark it."""
        low, high = self.ecn_min_bytes or roce.ecn_min_bytes, self.ecn_max_bytes or roce.ecn_max_bytes
        return replace(roce, ecn_min_bytes=low, ecn_max_bytes=high)


@dataclass(frozen=True)
class Fabric:
    """drawbridge_fabric: one traffic class, the same on every link."""

    roce: Roce = option("the lossless class")
    cnp: Cnp = option("congestion notifications", Cnp())
    watchdog: Watchdog = option("PFC watchdog of the switches", Watchdog())
    host_mtu_bytes: int = option("MTU of the nodes' RDMA ports", 9000, low=1280, high=9194)
    congestion_control: str = option(
        "how senders slow down: dcqcn, off (PFC alone), or adaptive_routing (Spectrum-X: the NICs' own algorithm)",
        "dcqcn",
        choices=CONGESTION_CONTROLS,
    )
    dcqcn: Dcqcn = option("parameters of DCQCN on the NICs; those that are absent stay", Dcqcn())
    host_cable_m: int = option(
        "length of the longest cable to a node in metres, for the buffers of RDMA ports (0: the driver's 7 m)",
        0,
        low=0,
        high=999,
    )
    switch_mtu_bytes: int = option("MTU of the switches' ports", 9214, low=1280, high=9216)
    switches: tuple[Switches, ...] = option("the switches", ())
    storage: Optional[Storage] = option("a class for storage traffic, if it has one of its own", None)
    ecmp: str = option(
        "roce: switches choose among equal paths by addresses and UDP ports, as RoCE needs; empty: as the site has it",
        "",
        choices=("", ROCE),
    )
    cabling: Optional[Cabling] = option("which port goes where; changes then touch and drain only what they must", None)


@dataclass(frozen=True)
class SwitchProfile:
    """The lossless class on one switch, as view C(switch) of P(drawbridge.drawbridge.view#filter) derives it."""

    platform: str = option("network operating system", choices=tuple(SYSTEMS))
    asic: str = option("switch ASIC, by its chip or its family; it decides queues and maps", choices=ASICS)
    ports: tuple[str, ...] = option("ports that carry the class, one a name, such as C(Ethernet1)")
    mtu_bytes: int = option("MTU of those ports", low=1280, high=9216)
    roce: Roce = option("the lossless class")
    cnp: Cnp = option("congestion notifications")
    watchdog: Watchdog = option("PFC watchdog of the switch")
    storage: Optional[Storage] = option("a class for storage traffic, if it has one of its own", None)
    channels: tuple[Channel, ...] = option("port-channels that have members among the ports", ())
    cable_m: int = option("length in metres for which buffers are divided (0: not configured)", 0, low=0, high=100000)
    lossless_buffer_percent: int = option(
        "share of the buffers for lossless traffic (0: not configured)", 0, low=0, high=99
    )
    queue_buffer_bytes: int = option("buffer that one queue can fill; 0: that of the ASIC", 0, low=0)
    ecmp: str = option("C(roce): equal paths by addresses and UDP ports; empty: left alone", "", choices=("", ROCE))

    @property
    def family(self) -> str:
        """The family of the switch's ASIC."""
        return CHIPS[self.asic]

    @property
    def lossless(self) -> list[int]:
        """Priorities that PFC keeps lossless."""
        extra = [self.storage.priority] if self.storage and self.storage.lossless else []
        return sorted([self.roce.priority, *extra])

    @property
    def channel_of(self) -> dict[str, str]:
        """The port-channel of each port that is a member of one."""
        return {port: channel.name for channel in self.channels for port in channel.ports if port in self.ports}

    def as_dict(self) -> dict[str, Any]:
        """Plain data for Ansible; from_dict() reads it."""
        return {**asdict(self), "ports": list(self.ports), "channels": [asdict(channel) for channel in self.channels]}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> SwitchProfile:
        """Read the data of as_dict(). Raises KeyError or TypeError for other keys."""
        nested = {"roce": Roce(**raw["roce"]), "cnp": Cnp(**raw["cnp"]), "watchdog": Watchdog(**raw["watchdog"])}
        storage = Storage(**raw["storage"]) if raw.get("storage") else None
        channels = tuple(Channel(**channel) for channel in raw.get("channels", ()))
        return cls(**{**raw, "ports": tuple(raw["ports"]), **nested, "storage": storage, "channels": channels})
