# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ethtool on ports of RDMA NICs: counters (-S), pause (-a, -A), rings (-g, -G), module (-m), FEC (--show-fec).

For ice, --set-priv-flags. State: `ports`, by device, each with `stats`, `pause` and `rings`, and if planted `rx_dbm`
and `lost_blocks`. A boot resets them. `no_pause` lists ports whose driver knows no pause. `version` is the release,
6.14 if the state has none. Before 6.2, `--json -a` prints true for
each boolean, and `--json -g` is refused (netdev, December 2022; Debian's 6.1). Text is the same in all releases.

Names of counters: Linux 6.12, mlx5's counters.rst, ice_ethtool.c and bnxt_ethtool.c. Texts and exit codes: ethtool 6.14
over netlink.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ..common import DIE, LIE, REFUSE, Call, Killed, boot_id, host_device, in_pairs, sysfs
from .driver import BNXT, ICE, MLX5, RAIL, Ice, NetlinkError, driver_name, driver_of, port_of

if TYPE_CHECKING:
    from collections.abc import Iterable

READS, WRITES = ("-S", "-a", "-g", "-m", "--show-fec"), ("-A", "-G", "--set-priv-flags")
PER_PRIORITY = ("bytes", "packets", "pause", "pause_duration", "pause_transition", "discards")
PHYSICAL = ("discards_phy", "symbol_err_phy", "crc_errors_phy", "global_pause", "global_pause_duration")
MOST = 8192
LIGHT_DBM, ALARM_DBM = -0.1, (-13.3, 5.4)


class Refused(Exception):
    """Text on stderr, and the exit code."""


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("ethtool")
    with Call(device, name, argv) as call:
        verb = next((word for word in argv if word in READS + WRITES), "")
        effect = call.fault(writes=verb in WRITES)
        with device.state({"ports": {}}) as state:
            try:
                print(*_answer(state, verb, argv, effect), sep="\n", end="")
            except Refused as refusal:
                text, call.rc = refusal.args
                print(text, file=sys.stderr)
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _mlx5_stats() -> dict[str, int]:
    stats = {f"{way}_prio{at}_{it}": 0 for at in range(8) for way in ("rx", "tx") for it in PER_PRIORITY}
    stats |= {f"{way}_{it}": 0 for way in ("rx", "tx") for it in PHYSICAL}
    return {**stats, "rx_out_of_buffer": 0, "tx_pause_storm_warning_events": 0, "tx_pause_storm_error_events": 0}


def _ice_stats() -> dict[str, int]:
    names = ["rx_unicast", "rx_dropped", "rx_crc_errors.nic", "rx_dropped.nic", "link_xoff_rx.nic", "link_xoff_tx.nic"]
    names += [f"{way}_priority_{at}_{it}.nic" for way in ("tx", "rx") for at in range(8) for it in ("xon", "xoff")]
    return dict.fromkeys(names, 0)


def _bnxt_stats() -> dict[str, int]:
    names = ["rx_stat_discard", "rx_fcs_err_frames", "rx_pause_frames", "tx_pause_frames"]
    names += [f"{way}_pfc_ena_frames_pri{at}" for way in ("rx", "tx") for at in range(8)]
    names += [f"{way}_{it}_pri{at}" for way in ("rx", "tx") for it in ("bytes", "packets") for at in range(8)]
    return dict.fromkeys(names, 0)


STATS = {MLX5: _mlx5_stats, ICE: _ice_stats, BNXT: _bnxt_stats}


def factory(driver: str = MLX5) -> dict[str, Any]:
    """Return a port after a boot: global pause is on, as the firmware has it."""
    stats = STATS[driver]()
    pause = {"autonegotiate": False, "rx": True, "tx": True}
    return {"stats": stats, "pause": pause, "rings": {"rx-max": MOST, "tx-max": MOST, "rx": 1024, "tx": 1024}}


def count(interface: str, seen: dict[str, int]) -> None:
    """Add to the counters of a port, as packets do. A driver may lack some of them."""
    with host_device("ethtool").state({"ports": {}}) as state:
        stats = _port(state, interface)["stats"]
        stats.update({name: stats[name] + number for name, number in seen.items() if name in stats})


def _answer(state: dict[str, Any], verb: str, argv: list[str], effect: str | None) -> Iterable[str]:
    if verb == "-S" and "--json" in argv:
        raise Refused("ethtool: parameter '--json' can be used only with netlink", 1)
    interface = argv[argv.index(verb) + 1]
    port = _port(state, interface)
    if verb in ("-a", "-A") and interface in state.get("no_pause", ()):
        raise Refused("netlink error: Operation not supported", 1)
    if effect == REFUSE:
        raise Refused("netlink error: Operation not permitted", 1)
    if verb == "--set-priv-flags":
        _agent(interface, argv[argv.index(verb) + 2 :], keep=effect in (LIE, DIE))
        return []
    if verb in WRITES:
        changes = in_pairs(argv[argv.index(verb) + 2 :])
        _set(port, verb, changes, keep=effect in (LIE, DIE))
        return []
    if verb == "-S":
        return ["NIC statistics:", *(f"     {key}: {value}" for key, value in port["stats"].items()), ""]
    if verb in ("-m", "--show-fec"):
        return (module if verb == "-m" else _fec)(interface, port)
    if "--json" not in argv:
        return [*(_pause if verb == "-a" else _rings)(interface, port), ""]
    if _old(state) and verb == "-g":
        raise Refused("ethtool: bad command line argument(s)\nFor more information run ethtool -h", 1)
    found = port["pause" if verb == "-a" else "rings"]
    shown = dict.fromkeys(found, True) if _old(state) else found
    return [json.dumps([{"ifname": interface, **shown}]), ""]


def module(interface: str, port: dict[str, Any]) -> list[str]:
    """Return a module with four lasers, as qsfp.c prints it. With little light it raises an alarm."""
    dbm = port.get("rx_dbm", LIGHT_DBM)
    fields = {
        **{"Identifier": "0x11 (QSFP28)", "Connector": "0x0c (MPO Parallel Optic)"},
        **{"Transmitter technology": "0x00 (850 nm VCSEL)", "Vendor name": "Lab"},
        **{"Module temperature": "41.00 degrees C / 105.80 degrees F", "Alarm/warning flags implemented": "Yes"},
        **{f"Rcvr signal avg optical power(Channel {at})": _power(dbm) for at in range(1, 5)},
        **{f"Laser rx power low alarm    (Channel {at})": "On" if dbm < ALARM_DBM[0] else "Off" for at in range(1, 5)},
        "Laser rx power high alarm threshold": _power(ALARM_DBM[1]),
        "Laser rx power low alarm threshold": _power(ALARM_DBM[0]),
    }
    return [*(f"\t{name:<41} : {value}" for name, value in fields.items()), ""]


def _power(dbm: float) -> str:
    return f"{10 ** (dbm / 10):.4f} mW / {dbm:.2f} dBm"


def _fec(interface: str, port: dict[str, Any]) -> list[str]:
    head = [
        f"FEC parameters for {interface}:",
        "Supported/Configured FEC encodings: Auto RS",
        "Active FEC encoding: RS",
    ]
    return [
        *head,
        "Statistics:",
        "  corrected_blocks: 51234",
        f"  uncorrectable_blocks: {port.get('lost_blocks', 0)}",
        "",
    ]


def _old(state: dict[str, Any]) -> bool:
    """Say whether the release is before 6.2."""
    return [int(number) for number in state.get("version", "6.14").split(".")] < [6, 2]


def _pause(interface: str, port: dict[str, Any]) -> list[str]:
    words = {key: "on" if value else "off" for key, value in port["pause"].items()}
    rows = [f"Autonegotiate:\t{words['autonegotiate']}", f"RX:\t\t{words['rx']}", f"TX:\t\t{words['tx']}"]
    return [f"Pause parameters for {interface}:", *rows]


def _rings(interface: str, port: dict[str, Any]) -> list[str]:
    lines = [f"Ring parameters for {interface}:"]
    for title, end in (("Pre-set maximums:", "-max"), ("Current hardware settings:", "")):
        received, sent = (port["rings"][f"{way}{end}"] for way in ("rx", "tx"))
        lines += [title, f"RX:\t\t{received}", "RX Mini:\tn/a", "RX Jumbo:\tn/a", f"TX:\t\t{sent}"]
    return lines


def _agent(interface: str, words: list[str], *, keep: bool) -> None:
    """Start or stop the LLDP agent of the firmware, for which ice alone has a flag."""
    with host_device("mlnx_qos").state({"version": "25.7", "ports": {}}) as state:
        driver = driver_of(port_of(state, interface), privileged=True)
        if words[0] != "fw-lldp-agent" or not isinstance(driver, Ice):
            raise Refused("netlink error: Operation not supported", 1)
        try:
            if not keep:
                driver.set_agent(runs=words[1] == "on")
        except NetlinkError:
            raise Refused("netlink error: Operation not supported", 1) from None


def _port(state: dict[str, Any], interface: str) -> dict[str, Any]:
    if not (sysfs() / "class/net" / interface).exists():
        raise Refused("netlink error: no device matches name (offset 24)", 1)
    if not RAIL.fullmatch(interface):
        raise Refused("netlink error: Operation not supported", 1)
    if state.get("boot_id") != boot_id():
        state.update(boot_id=boot_id(), ports={})
    return state["ports"].setdefault(interface, factory(driver_name(interface)))


def _set(port: dict[str, Any], verb: str, changes: dict[str, str], *, keep: bool) -> None:
    if verb == "-A":
        new = {key.replace("autoneg", "autonegotiate"): value == "on" for key, value in changes.items()}
    else:
        new = {key: int(value) for key, value in changes.items()}
        if any(value > MOST for value in new.values()):
            raise Refused("netlink error: requested ring size exceeds maximum", 81)
    if not keep:
        port["pause" if verb == "-A" else "rings"].update(new)
