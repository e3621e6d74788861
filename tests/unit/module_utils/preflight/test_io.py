# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pwd
import threading
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import io, work_io

from tests.unit.module_utils.preflight_site import SOUND, WANT


def nothing(argv: Any, ok: Any = (0,)) -> Completed:
    raise DeviceError("not installed")


def test_probes_give_what_findings_read() -> None:
    """Each answer has the keys of a sound site's, on whatever machine this is."""
    for name in ("system", "security", "layers", "existing"):
        assert io.PROBES[name](WANT, nothing).keys() == SOUND[name].keys(), name
    assert set(io.PROBES) == set(SOUND) - {"silent"}


def test_users_that_exist_have_uid_and_gid() -> None:
    me = pwd.getpwuid(os.getuid())
    found = io.users({**WANT, "users": [me.pw_name, "drawbridge-has-none"]}, nothing)
    assert found == {me.pw_name: [me.pw_uid, me.pw_gid]}


def test_each_file_system_is_looked_at_once() -> None:
    found = io.disks(WANT, nothing)
    assert found[0]["place"] == "/"
    assert all(0 <= one["percent"] <= 100 and one["free_mib"] >= 0 for one in found)


def printed(monkeypatch: pytest.MonkeyPatch, **outputs: str) -> Any:
    """Tools that print this; others are not installed."""
    monkeypatch.setattr(work_io, "tool", lambda name: name)
    return lambda argv, ok=(0,): Completed(0, outputs[argv[0]], "") if argv[0] in outputs else nothing(argv)


def test_units_and_releases_come_from_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    units = "Id=slurmd.service\nLimitMEMLOCK=infinity\n"
    run = printed(monkeypatch, systemctl=units, slurmd="slurm-wlm 24.11.5\n")
    assert io.units(WANT, run) == [{"Id": "slurmd.service", "LimitMEMLOCK": "infinity"}]
    assert io.releases(WANT, run) == {"slurmd": "24.11"}


def test_a_firewall_is_read_from_all_its_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    found = io.security(WANT, printed(monkeypatch, getenforce="Enforcing\n", iptables="-P INPUT DROP\n"))
    assert (found["selinux"], found["closed"]) == ("Enforcing", [6818])


def test_a_probe_that_hangs_or_breaks_is_named() -> None:
    never = threading.Event()

    def breaks(want: Any, run: Any) -> Any:
        raise ValueError("nonsense")

    probes = {"works": lambda want, run: 3, "hangs": lambda want, run: never.wait(), "breaks": breaks}
    found = io.probe(WANT, probes, limit_s=0.5)
    never.set()
    assert found["works"] == 3
    assert found["silent"] == {"hangs": "no answer within 0.5 s", "breaks": "nonsense"}
    assert found["clock"][0] <= found["clock"][1]
