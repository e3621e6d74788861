# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules as iptables 1.8.9, nft 1.0.6 and firewalld 1.3.3 print them. A kernel agreed with `closed` on random rules."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.firewall_text import state

NFT = """table inet filter {
	set ports {
		type inet_service
		flags interval
		elements = { 22, 7000-7010 }
	}

	chain input {
		type filter hook input priority filter; policy drop;
		iif "lo" accept
		ct state vmap { invalid : drop, established : accept, related : accept }
		tcp flags != syn / syn,ack accept
		udp dport 6817 accept
		meta l4proto { icmp, ipv6-icmp } accept
		log prefix "accept this? " counter packets 0 bytes 0 comment "accept"
		%s
	}

	chain other {
		tcp dport vmap { 6817 : accept, 6818 : drop }
	}
}
"""
FIREWALLD = """table inet firewalld {
	chain filter_INPUT {
		type filter hook input priority filter + 10; policy accept;
		ct state { established, related } accept
		ct status dnat accept
		iifname "lo" accept
		jump filter_INPUT_ZONES
		reject with icmpx admin-prohibited
	}
	chain filter_INPUT_ZONES {
		%sgoto filter_IN_public
	}
	chain filter_IN_public {
		jump filter_IN_public_log
		jump filter_IN_public_allow
		reject with icmpx admin-prohibited
	}
	chain filter_IN_public_log {
	}
	chain filter_IN_public_allow {
		tcp dport 6818 accept
	}
	chain filter_IN_trusted {
		accept
	}
}
"""
UFW = """-P INPUT DROP
-N ufw-before-input
-N ufw-user-input
-A INPUT -j ufw-before-input
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -p udp -m udp --dport 6817 -j ACCEPT
-A ufw-before-input -j ufw-user-input
"""
ZONES = "state: running\npublic (default)\n  services: ssh\n  ports: 6818/tcp 6817/udp\n"
INTERNAL = (
    "\ninternal (active)\n  target: default\n  sources: 10.0.0.0/8\n  services: ssh\n  ports: %s\n  rich rules: \n%s"
)


@pytest.mark.parametrize(
    ("rules", "closed", "unknown"),
    [
        ("", "", ""),
        ("-P INPUT ACCEPT\n", "", ""),
        ("-P INPUT ACCEPT\n-A INPUT -p tcp --dport 6818 -j ACCEPT\n-A INPUT -j REJECT --reject-with x\n", "6817", ""),
        ("-P INPUT DROP\n-A INPUT -p tcp -m multiport --dports 22,6810:6817 -j ACCEPT\n", "6818", ""),
        ("-P INPUT DROP\n-A INPUT -p tcp ! --dport 6817 -m comment --comment 'a -j b' -j ACCEPT\n", "6817", ""),
        ("-P INPUT DROP\n-A INPUT -s 10.20.0.0/16 -j ACCEPT\n", "", "6817 6818"),
        ("-P INPUT DROP\n-A INPUT -i a -p tcp --dport 6817 -j ACCEPT\n-A INPUT -s ::1/128 -j ACCEPT\n", "6818", "6817"),
        ("-P INPUT DROP\n-A INPUT -p tcp ! --syn -j ACCEPT\n-A INPUT -m mark --mark 0x1 -j LOG\n", "6817 6818", ""),
        ("-P INPUT DROP\n-A INPUT -g lost\n", "", "6817 6818"),
        ("-P INPUT ACCEPT\n-N k\n-A INPUT -j k\n-A k -m mark --mark 0x8000 -j DROP\n", "", ""),
        (UFW, "6817 6818", ""),
        (f"{UFW}-A ufw-user-input -p tcp -m tcp --dport 6817 -j ACCEPT\n", "6818", ""),
        (f"{UFW}-A ufw-user-input -s 10.0.0.0/8 -j ACCEPT\n", "", "6817 6818"),
        (NFT % "", "6817 6818", ""),
        ((NFT % "").replace("drop;", "accept;"), "", ""),
        (NFT % "tcp dport { 22, 6818 } ct state new accept", "6817", ""),
        (NFT % "tcp dport @ports accept", "6817 6818", ""),
        (NFT % "tcp dport != @ports accept", "", ""),
        (NFT % "ip saddr 10.0.0.0/8 accept", "", "6817 6818"),
        (NFT % "tcp dport slurmd accept", "", "6817 6818"),
        (NFT % "iifname \"ib0\" jump other", "6818", "6817"),
        (NFT % "jump other", "6818", ""),
        (f"{UFW}{(NFT % 'accept').replace('inet', 'ip').replace('chain input', 'chain INPUT')}", "6817 6818", ""),
        (FIREWALLD % "", "6817", ""),
        (FIREWALLD % "ip saddr 10.20.0.0/16 goto filter_IN_trusted\n\t\t", "", "6817"),
        (ZONES, "6817", ""),
        (ZONES + INTERNAL % ("", ""), "6817", "6818"),
        (ZONES + INTERNAL % ("6800-6820/tcp", ""), "", "6817"),
        (ZONES + INTERNAL % ("6818/tcp", '\trule family="ipv4" source address="10.0.0.0/8" accept\n'), "", "6817"),
    ],
)  # fmt: skip
def test_a_port_is_closed_only_if_no_other_host_can_reach_it(rules: str, closed: str, unknown: str) -> None:
    found = {port: state(rules, port) for port in (6817, 6818)}
    assert " ".join(str(port) for port, end in found.items() if end == "closed") == closed
    assert " ".join(str(port) for port, end in found.items() if end == "unknown") == unknown
