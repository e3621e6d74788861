# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines of a change: what they put into files, and in which order."""

from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic import change as sonic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.change import (
    Own,
    change,
    takes_s,
)

PORTS = "Ethernet0-72:8"
LINES = (
    "+ SCHEDULER|ROCE_DATA",
    "+ SCHEDULER|ROCE_DATA type DWRR",
    "- SCHEDULER|ROCE_STORAGE",
    "- SCHEDULER|ROCE_STORAGE type DWRR",
    f"- PORT|{PORTS} mtu 9100",
    f"+ PORT|{PORTS} mtu 9214",
    f"+ QUEUE|{PORTS}|3",
    f"+ QUEUE|{PORTS}|3 scheduler ROCE_DATA",
)


def written(typed: tuple[str, ...], name: str) -> str:
    parts = [line.removeprefix("echo ").rpartition(" >> ")[0][1:-1] for line in typed if line.endswith(f"/a/{name}")]
    return "\n".join(parts)


def test_definitions_then_ports_in_groups_then_what_goes() -> None:
    typed = change("a", 300, LINES, Own(missing=("QUEUE",)))
    patches = [json.loads(written(typed, f"{number}.json")) for number in range(1, 5)]
    assert [it["path"] for it in patches[0]] == ["/SCHEDULER/ROCE_DATA"]
    assert [it for it in patches[1] if it["path"] == "/QUEUE"] == [{"op": "add", "path": "/QUEUE", "value": {}}]
    assert len({it["path"].split("/")[2].split("|")[0] for it in patches[1] if it["path"] != "/QUEUE"}) == 8
    assert {it["path"].split("/")[2].split("|")[0] for it in patches[2]} == {"Ethernet64", "Ethernet72"}
    assert patches[3] == [{"op": "remove", "path": "/SCHEDULER/ROCE_STORAGE"}]
    assert [line.rpartition("/")[2] for line in typed if "apply-patch /" in line and "pkill" not in line] == [
        f"{number}.json" for number in range(1, 5)
    ]


def test_the_timer_runs_before_the_first_patch_and_no_line_is_longer_than_a_terminals() -> None:
    typed = change("a", 300, LINES, Own())
    armed = next(at for at, line in enumerate(typed) if line.startswith("sudo systemd-run"))
    assert armed < next(at for at, line in enumerate(typed) if line.startswith("sudo config"))
    assert max(map(len, typed)) < 490
    assert takes_s(LINES) == 60 + 10 * 15


def test_the_job_puts_old_values_back_and_the_port_that_a_killed_patch_left_down() -> None:
    typed = change("a", 300, LINES, Own(restored=("PORT|Ethernet0 admin_status up", "PORT|Ethernet80 admin_status up")))
    old = json.loads(written(typed, "old.json"))
    assert old["PORT"]["Ethernet0"] == {"mtu": "9100", "admin_status": "up"}
    assert "Ethernet80" not in old["PORT"]
    assert old["SCHEDULER"] == {"ROCE_STORAGE": {"type": "DWRR"}}
    assert "'QUEUE|Ethernet72|3'" in written(typed, "revert")
    assert "ROCE_STORAGE" not in written(typed, "revert")


def test_no_line_of_a_file_ends_inside_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in range(60, 120):
        monkeypatch.setattr(sonic, "WIDTH", width)
        old = json.loads(
            written(change("a", 300, ("- PORT_QOS_MAP|Ethernet0-64:8 pfc_enable 3,4",), Own()), "old.json")
        )
        assert {port["pfc_enable"] for port in old["PORT_QOS_MAP"].values()} == {"3,4"}


@pytest.mark.parametrize(("old", "first"), [("200", True), ("50", False)])
def test_no_time_of_the_watchdog_is_ever_below_its_interval(old: str, first: bool) -> None:
    port = [f"+ PFC_WD|Ethernet0 {line}" for line in ("action drop", "detection_time 200", "restoration_time 400")]
    lines = (f"- PFC_WD|GLOBAL POLL_INTERVAL {old}", "+ PFC_WD|GLOBAL POLL_INTERVAL 100", *port)
    watchdog = [line for line in change("a", 300, lines, Own()) if line.startswith("sudo config pfcwd")]
    assert watchdog[0 if first else 1] == "sudo config pfcwd interval 100"
    assert "sudo config pfcwd start --action drop --restoration-time 400 Ethernet0 200" in watchdog
