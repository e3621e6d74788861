# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of one host: its probes, connections, names, security and proxies."""

from __future__ import annotations

from .model import NAMES, REACH, SECURITY, Facts, Finding, Want
from .text import direct


def _silent(facts: Facts, want: Want) -> str:
    return "; ".join(f"probe {name}: {why}" for name, why in sorted(facts.get("silent", {}).items()))


def _unresolved(facts: Facts, want: Want) -> str:
    lost = sorted(name for name, address in facts.get("names", {}).items() if not address)
    return f"it can't resolve {', '.join(lost)}" if lost else ""


def _loopback(facts: Facts, want: Want) -> str:
    address = facts.get("names", {}).get(want["name"], "")
    return f"its own name resolves to {address}" if address.startswith("127.") or address == "::1" else ""


def _hostname(facts: Facts, want: Want) -> str:
    called = facts.get("system", {}).get("hostname", want["name"]).split(".")[0]
    return "" if called == want["name"] else f"its host name is {called}, but the inventory calls it {want['name']}"


def _blocked(facts: Facts, want: Want) -> str:
    ends = [(f"{one['host']}:{one['port']}", one["end"], one["open"]) for one in facts.get("ports", ())]
    # before the first run most daemons do not listen, and a refusal shows that packets pass; names are another finding
    fine = {"open", "unresolved"}
    bad = [f"{place} ({end})" for place, end, must in ends if end not in fine and (must or end != "refused")]
    return f"it can't connect to {', '.join(bad)}" if bad else ""


def _selinux(facts: Facts, want: Want) -> str:
    security = facts.get("security", {})
    return (
        "SELinux is enforcing, and no policy module for Slurm is installed"
        if security.get("selinux") == "Enforcing" and not {"slurm", "drawbridge"} & set(security["policies"])
        else ""
    )


def _firewall(facts: Facts, want: Want) -> str:
    closed = facts.get("security", {}).get("closed")
    return f"its firewall drops TCP ports {', '.join(map(str, closed))}" if closed else ""


def _proxy(facts: Facts, want: Want) -> str:
    proxies = facts.get("security", {}).get("proxies", {})
    used = sorted(name for name in proxies if name != "no_proxy")
    lost = [name for name in want["direct"] if not direct(proxies.get("no_proxy", ""), name)]
    return f"{', '.join(used)} is set, and no_proxy lacks {', '.join(lost)}" if used and lost else ""


TABLE = (
    Finding(
        "probe_silent",
        REACH,
        "a probe of a host fails, or gives no answer in time",
        "what it reads is unknown, so its findings can't be excluded",
        "run the probe's tool on the host, and repair the cause",
        _silent,
    ),
    Finding(
        "port_blocked",
        REACH,
        "a connection between hosts gets no answer; a refusal counts as reached where no daemon listens yet",
        "daemons of Slurm, Kubernetes or GPFS can't reach each other",
        "open the port in firewalls on the host, on the target and between them",
        _blocked,
    ),
    Finding(
        "name_unresolved",
        NAMES,
        "a host can't resolve a name that its daemons use",
        "slurmd, the kubelet or a mount fails",
        "add the name to DNS or to /etc/hosts of the host",
        _unresolved,
    ),
    Finding(
        "name_is_loopback",
        NAMES,
        "a host's own name resolves to a loopback address",
        "daemons register with an address that no other host reaches",
        "map the name to the host's real address in /etc/hosts",
        _loopback,
    ),
    Finding(
        "hostname_differs",
        NAMES,
        "the host name is not the inventory name",
        "slurmd finds no line of its own in slurm.conf",
        "run hostnamectl set-hostname with the inventory name, or rename the host in the inventory",
        _hostname,
    ),
    Finding(
        "selinux_without_policy",
        SECURITY,
        "SELinux is enforcing without a policy module for Slurm",
        "prologs, health checks and the gate's programs can be denied",
        "install a policy module, or set SELinux to permissive",
        _selinux,
    ),
    Finding(
        "firewall_closed",
        SECURITY,
        "no rule of the host's firewall can accept the ports of its daemons from another host",
        "other hosts can't reach the daemons that a run starts",
        "accept these TCP ports from the cluster's networks",
        _firewall,
    ),
    Finding(
        "proxy_set",
        SECURITY,
        "a proxy is set, and no_proxy lacks the controller or the API server",
        "the kubelet and other clients send cluster traffic to the proxy",
        "add these names to no_proxy in /etc/environment",
        _proxy,
    ),
)
