# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.managers import (
    DISPATCHER,
    NETWORK_MANAGER,
    NETWORKD,
    Owner,
    Wanted,
    files,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.routes import Rail, routing

GOAL = routing("rail0", "10.10.0.1/16", Rail(1000, "last"))
PLACE = "/etc/systemd/network/10-netplan-rail0.network.d"


def test_networkd_makes_the_rules_itself_and_in_their_order() -> None:
    found = files({"rail0": Wanted(Owner(NETWORKD, "/run/systemd/network/10-netplan-rail0.network"), 9000, GOAL)})
    assert sorted(found) == [f"{PLACE}/50-drawbridge-mtu.conf", f"{PLACE}/50-drawbridge-routes.conf"]
    assert found[f"{PLACE}/50-drawbridge-routes.conf"].splitlines()[1:] == [
        *("[Route]", "Destination=10.10.0.0/16", "Scope=link", "PreferredSource=10.10.0.1", "Table=1000", ""),
        *("[Route]", "Gateway=10.10.255.254", "PreferredSource=10.10.0.1", "Table=1000", ""),
        *("[RoutingPolicyRule]", "From=10.10.0.1", "Table=1000", "Priority=1000"),
    ]


def test_network_manager_runs_a_program_when_the_rail_is_up_and_at_nothing_else(tmp_path) -> None:
    found = files({"rail0": Wanted(Owner(NETWORK_MANAGER, "af1e"), 9000, GOAL)})
    program = tmp_path / "dispatcher"
    program.write_text(found[DISPATCHER])
    (tmp_path / "ip").write_text('#!/bin/sh\necho "$*"\nexit 2\n')  # as ip ends when a rule is there
    (tmp_path / "ip").chmod(0o755)

    def ran(*arguments: str) -> list[str]:
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(["sh", program, *arguments], env=env, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert ran("rail0", "up") == [line.removeprefix("ip ") for line in GOAL.lines()]
    assert [ran(*arguments) for arguments in (("rail0", "down"), ("rail1", "up"), ("", "hostname"))] == [[], [], []]


def test_who_owns_nothing_gets_no_file() -> None:
    assert files({"rail0": Wanted(Owner(), 9000, GOAL)}) == {}
