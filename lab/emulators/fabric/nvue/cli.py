# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One logged-in user: a shell in which `nv` is the only program. What the hardware does, as `nv show` prints it.

Keys and values are those of the tables in NVIDIA's page on RoCE, which prints no JSON. Their nesting is modelled after
that of other views (`nv show interface link`). 150000 bytes become 159744 on Spectrum-4, which is 12 cells. Usage of
buffers has units for people; packets are plain numbers. LLDP: keys that NAPALM's driver for Cumulus Linux reads.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.nvue import revisions, tree
from lab.emulators.fabric.nvue.revisions import DEFAULT_MTU, State
from lab.emulators.fabric.nvue.tree import expand
from lab.emulators.fabric.switch import Refused, Shell

if TYPE_CHECKING:
    from lab.emulators.fabric.nvue.revisions import State

CNP, ROCE = 6, 3
"""The priorities of RoCE mode."""


def roce(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Return `nv show interface NAME qos roce counters`."""
    return {
        "rx-stats": {
            "rx-pfc-stats": {"pause-duration": 0, "pause-packets": count(state, name, ROCE, "rx_pause")},
            "rx-roce-stats": {"buffer-usage": "0 Bytes", "no-buffer-discard": 0, "roce-bytes": "0 Bytes"},
        },
        "tx-stats": {
            "tx-cnp-stats": {"cnp-packets": 0, **_queue(state, name, CNP)},
            "tx-ecn-stats": {"ecn-marked-packets": count(state, name, ROCE, "marked")},
            "tx-pfc-stats": {"pause-duration": 0, "pause-packets": count(state, name, ROCE, "tx_pause")},
            "tx-roce-stats": {"roce-packets": 0, **_queue(state, name, ROCE)},
        },
    }


def lldp(state: dict[str, Any]) -> dict[str, Any]:
    """Return `nv show interface lldp`: ports with a neighbour have one below its name."""
    found: dict[str, Any] = {}
    for name in state["ports"]:
        found[name] = {"link": {"speed": "400G"}, "type": "swp"}
        if cable := state["neighbors"].get(name):
            device, port = cable
            neighbour = {"chassis": {"system-name": device}, "port": {"name": port, "type": "ifname"}}
            found[name]["lldp"] = {"neighbor": {device: neighbour}}
    return found


def _queue(state: dict[str, Any], name: str, priority: int) -> dict[str, Any]:
    return {
        "tc-max-usage": human(count(state, name, priority, "peak")),
        "tc-usage": human(count(state, name, priority, "depth")),
        "unicast-no-buffer-discard": count(state, name, priority, "dropped"),
    }


def human(value: int) -> str:
    """Return bytes as NVUE shows them."""
    for unit, size in (("MB", 1024 * 1024), ("KB", 1024)):
        if value >= size:
            return f"{value / size:.2f} {unit}"
    return f"{value} Bytes"


VIEWS = {"interface qos-roce-status": 14, "interface qos-roce-counters": 14}
"""Views of all ports, and the second number of the release that they came with: What's New in Cumulus Linux 5.14."""
CELLS = 13312
TRUST = {"l2": "pcp", "l3": "dscp", "both": "pcp,dscp", "port": "port"}


def show(state: State, words: list[str]) -> Any:
    """Return the data of `nv show WORDS -o json`. Raises Refused."""
    text = " ".join(words)
    if text in VIEWS and revisions.minor(state) < VIEWS[text]:
        raise Refused("Error: The requested item does not exist.")
    if text == "interface qos-roce-status":
        return {name: {"qos": {"roce": {"status": status(state, name)}}} for name in state["ports"]}
    if text == "interface qos-roce-counters":
        return {name: {"qos": {"roce": {"counters": roce(state, name)}}} for name in state["ports"]}
    if text == "interface lldp":
        return lldp(state)
    if found := re.fullmatch(r"interface (\S+) qos roce counters", text):
        return roce(state, _port(state, found[1]))
    if found := re.fullmatch(r"interface (\S+) qos roce status", text):
        return status(state, _port(state, found[1]))
    if found := re.fullmatch(r"interface (\S+) qos pfc-watchdog", text):
        return watchdog(state, _port(state, found[1]))
    if found := re.fullmatch(r"interface (\S+) link", text):
        return link(state, _port(state, found[1]))
    if text == "qos roce":
        return status(state, next(iter(state["ports"])))
    raise Refused(f"Error: Invalid Command: show {text}")


def status(state: State, name: str) -> dict[str, Any]:
    """Return what a port does for RoCE; without RoCE mode, nothing but its trust."""
    qos = state["applied"].get("qos", {})
    mapping = qos.get("mapping", {}).get("default-global", {})
    if not revisions.pauses(state["applied"]):
        return {"trust": {"trust-mode": TRUST[mapping.get("trust", "l2")]}}
    own = state["applied"]["interface"].get(name, {}).get("qos", {})
    pfc = qos.get("pfc", {}).get(own.get("pfc", {}).get("profile", "default-global"), {})
    paused = sorted(pfc.get("switch-priority", {"3": {}}))
    marking = qos.get("congestion-control", {}).get("default-global", {}).get("traffic-class", {})
    marked = sorted({*marking, "0", "3"} - {key for key, it in marking.items() if str(it.get("ecn", "")) in OFF})
    ecn = marking.get("3", {})
    return {
        "congestion-control": {
            "congestion-mode": "ecn, absolute",
            "enabled-tc": ",".join(marked),
            "max-threshold": human(cells(ecn.get("max-threshold", 1500000))),
            "min-threshold": human(cells(ecn.get("min-threshold", 150000))),
            "probability": ecn.get("probability", 100),
        },
        "lldp-app-tlv": {"priority": 3, "protocol-id": 4791, "selector": "UDP"},
        "mode": qos["roce"]["mode"],
        "pfc": {
            "pfc-priority": ",".join(paused),
            "rx-enabled": "no" if pfc.get("rx") == "disable" else "yes",
            "tx-enabled": "no" if pfc.get("tx") == "disable" else "yes",
        },
        "trust": {"trust-mode": TRUST[mapping.get("trust", "both")]},
    }


def forwarding(state: State) -> dict[str, Any]:
    """Return what packets meet: links, MTUs, trust, and the classes that are lossless or marked."""
    mapping = state["applied"].get("qos", {}).get("mapping", {}).get("default-global", {}).get("dscp", {})
    shown = {}
    for name in state["ports"]:
        seen, own = status(state, name), state["applied"].get("interface", {}).get(name, {}).get("link", {})
        shown[name] = {
            "up": "down" not in own.get("state", {}),
            "mtu": own.get("mtu", DEFAULT_MTU),
            "trust": "dscp" in seen["trust"]["trust-mode"],
            "lossless": [int(number) for number in seen.get("pfc", {}).get("pfc-priority", "").split(",") if number],
            "marks": [int(n) for n in seen.get("congestion-control", {}).get("enabled-tc", "").split(",") if n],
        }
    mapped = {dscp: int(it["switch-priority"]) for dscp, it in mapping.items() if "switch-priority" in it}
    return {"ports": shown, "dscp": mapped, "neighbors": state["neighbors"]}


OFF = ("disable", "disabled")


def watchdog(state: State, name: str) -> dict[str, Any]:
    """Return the watchdog of a port: how often each queue was stuck."""
    own = state["applied"]["interface"].get(name, {}).get("qos", {}).get("pfc-watchdog", {})
    queues = {str(n): {"status": "OK", "deadlock-count": count(state, name, n, "storms")} for n in PRIORITIES}
    return {"state": own.get("state", "disabled"), "status": queues}


def link(state: State, name: str) -> dict[str, Any]:
    """Return a port's link and how often it went up or down."""
    own = state["applied"]["interface"].get(name, {}).get("link", {})
    flaps = state["ports"][name]["flaps"]
    return {"mtu": own.get("mtu", DEFAULT_MTU), "state": {"up": {}}, "stats": {"carrier-transitions": flaps}}


def config(state: State, which: str) -> list[dict[str, Any]]:
    """Return `nv config show -o json` of the applied or the startup configuration."""
    version = f"Cumulus Linux {state['version']}"
    header = {"model": state["platform"], "nvue-api-version": "nvue_v1", "rev-id": 1.0, "version": version}
    return [{"header": header}, {"set": tree.collapsed(state[which])}]


def cells(value: int) -> int:
    """Return what the hardware programs for so many bytes."""
    return -(-int(value) // CELLS) * CELLS


def _port(state: State, text: str) -> str:
    [name, *others] = expand(text)
    if others or name not in state["ports"]:
        raise Refused(f"Error: The requested item does not exist: {text}")
    return name


UNITS = {"s": 1, "m": 60, "h": 3600, "": 60}
"""Of `--confirm`: a bare number counts minutes."""
TEN_MINUTES = 600.0


class Cli(Shell):
    """The shell as one user sees it; the switch itself is the state that every call is given."""

    def prompt(self, state: State) -> str:
        """Return the prompt; the management VRF shows in it."""
        return f"{self.user}@{state['applied']['system']['hostname']}:mgmt:~$ "

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks; return what the terminal shows. Raises Refused with what it shows instead."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise Refused("-bash: unexpected EOF while looking for matching quote") from None
        if not words:
            return ""
        if words[0] in ("exit", "logout"):
            self.over = True
            return "logout"
        if words == ["cat", "/etc/lsb-release"]:
            release = state["version"]
            description = f'DISTRIB_DESCRIPTION="Cumulus Linux {release}"'
            return f'DISTRIB_ID="Cumulus Linux"\nDISTRIB_RELEASE={release}\n{description}'
        if words[0] != "nv":
            raise Refused(f"-bash: {words[0]}: command not found")
        whole = words[-2:] == ["|", "cat"]
        answer = self._nv(state, words[1:-2] if whole else words[1:], now)
        return answer if whole or not _pages(state) else "\n".join([*answer.splitlines()[:ROWS], "--More--"])

    def _nv(self, state: State, words: list[str], now: float) -> str:
        verb, rest = (words or [""])[0], words[1:]
        if verb in ("set", "unset"):
            revisions.edit(state, self.user, verb, rest)
            return ""
        if verb == "show":
            return _printed(show(state, _without_output(rest)))
        if verb == "config" and rest:
            return self._config(state, rest[0], rest[1:], now)
        raise Refused(f"Error: Invalid Command: {' '.join(words)}")

    def _config(self, state: State, verb: str, options: list[str], now: float) -> str:
        if verb == "show":
            which = "startup" if "startup" in options or "--startup" in options else "applied"
            if "commands" in options:
                return "\n".join(tree.commands(state[which]))
            return _printed(config(state, which))
        if verb == "revision":
            return _printed(state["revisions"])
        if verb == "detach":
            revisions.detach(state, self.user)
            return ""
        if verb == "save":
            return revisions.save(state)
        if verb == "apply":
            return self._apply(state, options, now)
        raise Refused(f"Error: Invalid Command: config {verb}")

    def _apply(self, state: State, options: list[str], now: float) -> str:
        number = options[0] if options and options[0].isdigit() else ""
        if "--confirm-yes" in options:
            return revisions.confirm(state, number)
        if "--confirm-no" in options:
            return revisions.refuse(state, number, now)
        if "--confirm-status" in options:
            waiting = state["confirm"]
            return f"{waiting['deadline'] - now:.0f} s left" if waiting else "no revision waits for confirmation"
        if not {"-y", "--y", "--assume-yes"} & {*options}:
            return "Are you sure? [y/N]"
        message = options[options.index("-m") + 1] if "-m" in options[:-1] else ""
        return revisions.apply(state, self.user, now, _timer(options), message)


ROWS = 24
"""Lines of a terminal."""


def _pages(state: State) -> bool:
    """Say whether answers come page by page (NVUE reference, `nv set system cli pagination state`, from 5.9 on).

    What a pager waits for is not modelled: after the first page nothing comes.
    """
    cli = state["applied"]["system"].get("cli", {})
    return cli.get("pagination", {}).get("state") == "enabled"


def _timer(options: list[str]) -> float:
    """Return the seconds of `--confirm 300s`; 0 without it."""
    if "--confirm" not in options:
        return 0.0
    following = options[options.index("--confirm") + 1 :]
    found = re.fullmatch(r"(\d+)([smh]?)", following[0]) if following else None
    return float(found[1]) * UNITS[found[2]] if found else TEN_MINUTES


def _without_output(words: list[str]) -> list[str]:
    """Drop `-o json`; tables for people are not emulated."""
    if words[-2:] in (["-o", "json"], ["--output", "json"]):
        return words[:-2]
    raise Refused("Error: the lab prints -o json only")


def _printed(data: Any) -> str:
    return json.dumps(data, indent=2)
