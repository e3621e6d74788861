# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel, Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.text import (
    DIALECT,
    parse,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import (
    INTERRUPTING,
    QUIET,
    Traffic,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from lab.emulators.fabric.sonic import configdb, yang
from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_sonic import Sonic, profile
from tests.unit.emulated_switch import ROOT, pass_silence

STORAGE = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True)
REFUSALS = yaml.safe_load((ROOT / "tests/lab/emulators/fabric/sonic/refusals.yml").read_text())
NAMES = json.dumps({"COUNTERS_PORT_NAME_MAP": {"value": {"Ethernet0": "oid:0x1"}}})
LEAF = profile(ports=1)


def database(**tables: Any) -> dict[str, Any]:
    return {**configdb.factory("leaf1", "xgs", 1, "10.77.1.41")["running"], **tables}


def hardware(mask: int) -> str:
    port = {"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": {"value": {"SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": str(mask)}}}
    return f"{NAMES}\n{json.dumps(port)}"


def parsed(config: dict[str, Any], units: str = "", mask: int = 8) -> Any:
    text = json.dumps(config)
    return parse((text, text, units, hardware(mask)), LEAF)


def another_class(config: dict[str, Any]) -> None:
    configdb.azure(config)
    config["PFC_WD"] = {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        "Ethernet0": {"action": "forward", "detection_time": "400", "restoration_time": "600"},
    }


def half_a_profile(config: dict[str, Any]) -> None:
    config["SCHEDULER"] = {"ROCE_DATA": {"type": "STRICT"}, "ROCE_OLD": {"type": "DWRR", "weight": "5"}}
    config["QUEUE"] = {"Ethernet0|3": {"scheduler": "ROCE_DATA"}, "Ethernet4|5": {"scheduler": "ROCE_OLD"}}
    config["PORT"]["Ethernet4"]["mtu"] = "9214"


def others_qos(config: dict[str, Any]) -> None:
    config["SCHEDULER"] = {"scheduler.0": {"type": "DWRR", "weight": "14"}}
    config["QUEUE"] = {"Ethernet12|3": {"scheduler": "scheduler.0"}, "Ethernet0|7": {"scheduler": "scheduler.0"}}
    config["PORT_QOS_MAP"] = {"Ethernet0": {"scheduler": "scheduler.0"}, "Ethernet12": {"pfc_enable": "5"}}
    config["PORT"]["Ethernet0"]["description"] = "to-the-nodes"
    config["VLAN"] = {"Vlan10": {"vlanid": "10"}}


DIRTY = {"factory": lambda _: None, "azure": another_class, "half": half_a_profile, "others": others_qos}


OWNED = {"PORT": ("mtu",), "PORT_QOS_MAP": ("map", "pfc_enable", "pfcwd")}


def foreign(config: dict[str, Any]) -> dict[str, Any]:
    """What Drawbridge must not touch: other tables, names and ports, and fields of its ports that it does not own."""
    kept: dict[str, Any] = {}
    for table, entries in config.items():
        for key, fields in entries.items():
            name = key.split("|")[0]
            ours = name.startswith("ROCE") or (table == "PFC_WD" and name in ("GLOBAL", "Ethernet0", "Ethernet4"))
            own_port = name in ("Ethernet0", "Ethernet4")
            if ours or (table == "QUEUE" and own_port):
                continue
            owned = OWNED.get(table, ()) if own_port else ()
            if rest := {field: value for field, value in fields.items() if not any(word in field for word in owned)}:
                kept[f"{table}|{key}"] = rest
    return kept


@pytest.mark.parametrize("dirt", DIRTY)
def test_check_mode_predicts_the_run_and_what_is_not_ours_stays(sonic: Sonic, dirt: str) -> None:
    sonic.edit(DIRTY[dirt])
    before = sonic.config()
    predicted = sonic.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in sonic.journal())
    done = sonic.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    after = sonic.config()
    assert foreign(after) == foreign(before)
    for queue in ("Ethernet0|7", "Ethernet0|4", "Ethernet0|2"):
        covering = before.get("QUEUE", {}).get(queue) or ({"x": ""} if dirt == "azure" and queue[-1] != "7" else None)
        assert bool(after["QUEUE"].get(queue)) is bool(covering), "the rest of a range keeps its scheduler"
    assert sonic.converge().steps == []
    assert sonic.config("saved") == after
    assert sonic.units() == []
    yang.refuse(after)


def test_ecn_thresholds_change_without_a_flap_and_without_consent(sonic: Sonic) -> None:
    assert not sonic.converge().error
    want = replace(profile(), roce=replace(profile().roce, ecn_min_bytes=200000))
    used = Traffic({}, use=ClusterUse(frozenset(), unknown=""))
    done = sonic.converge(want=want, traffic=used)
    assert (done.error, done.pending) == ("", [])
    assert set(sonic.flaps().values()) == {0, 1}
    assert sonic.config()["WRED_PROFILE"]["ROCE"]["green_min_threshold"] == "200000"


def test_storage_comes_and_goes_beside_the_gpus(sonic: Sonic) -> None:
    both = replace(profile(), storage=STORAGE)
    assert (sonic.converge(want=both).error, sonic.converge(want=both).steps) == ("", [])
    assert sonic.config()["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3,4"
    assert (sonic.converge().error, sonic.converge().steps) == ("", [])
    assert "ROCE_STORAGE" not in sonic.config()["SCHEDULER"]
    assert "Ethernet0|4" not in sonic.config()["QUEUE"]


def test_a_port_channel_has_the_mtu_and_its_members_the_class(sonic: Sonic) -> None:
    def made(config: dict[str, Any]) -> None:
        config["PORTCHANNEL"] = {"PortChannel1": {"admin_status": "up", "mtu": "9100"}}
        config["PORTCHANNEL_MEMBER"] = {"PortChannel1|Ethernet0": {"NULL": "NULL"}}

    sonic.edit(made)
    want = replace(profile(), channels=(Channel("PortChannel1", "Ethernet0"),))
    predicted = sonic.converge(check=True, want=want)
    done = sonic.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert sonic.converge(want=want).steps == []
    config = sonic.config()
    assert config["PORTCHANNEL"]["PortChannel1"] == {"admin_status": "up", "mtu": "9214"}
    assert (config["PORT"]["Ethernet0"]["mtu"], config["PORT"]["Ethernet4"]["mtu"]) == ("9100", "9214")
    assert config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3"
    with sonic.switch() as switch, pytest.raises(DeviceError, match="Ethernet0 is in PortChannel1, which has the MTU"):
        switch.read()


def test_a_change_of_a_port_channel_that_fails_is_reverted(sonic: Sonic) -> None:
    def made(config: dict[str, Any]) -> None:
        config["PORTCHANNEL"] = {"PortChannel1": {"admin_status": "up", "mtu": "9100"}}
        config["PORTCHANNEL_MEMBER"] = {"PortChannel1|Ethernet0": {"NULL": "NULL"}}

    sonic.edit(made)
    before = sonic.config()
    sonic.fault("lie", "pfcwd start")
    assert sonic.converge(want=replace(profile(), channels=(Channel("PortChannel1", "Ethernet0"),))).error
    assert (sonic.config(), sonic.units()) == (before, [])


def test_definitions_come_first_and_ports_by_consent_in_a_second_phase(sonic: Sonic) -> None:
    busy = Traffic({"Ethernet0": ["gpu01"], "Ethernet4": ["gpu02"]}, use=ClusterUse(), allowed=True, phase=QUIET)
    quiet = sonic.converge(traffic=busy)
    assert (quiet.error, quiet.changed, quiet.pending) == ("", True, [])
    assert set(sonic.flaps().values()) == {0}
    later = sonic.converge(traffic=replace(busy, phase=INTERRUPTING))
    assert (later.error, later.changed) == ("", True)
    assert sonic.flaps() == {"Ethernet0": 1, "Ethernet4": 1, "Ethernet8": 0, "Ethernet12": 0}
    assert sonic.converge().steps == []


PORTS_PATCH = "apply-patch .*/2.json"


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", "systemd-run", "refused 'sudo systemd-run"),
        ("refuse", PORTS_PATCH, "refused 'sudo config apply-patch"),
        ("refuse", "pfcwd interval", "refused 'sudo config pfcwd interval 100'"),
        ("lie", PORTS_PATCH, "Ethernet0 lacks 'PORT mtu 9214'"),
        ("lie", "pfcwd start", "reported success, but the change is not in effect"),
        ("lie", "systemctl stop", "still waits for confirmation"),
        ("drift", "pfcwd interval", "reported success, but the change is not in effect"),
    ],
)
def test_a_change_that_fails_is_reverted_and_the_next_run_makes_it(
    sonic: Sonic, effect: str, match: str, words: str
) -> None:
    sonic.edit(configdb.azure)
    before = sonic.config()
    sonic.fault(effect, match)
    outcome = sonic.converge()
    assert words in outcome.error
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    assert (sonic.config(), sonic.units()) == (before, [])
    assert sonic.converge().error == ""
    assert sonic.converge().steps == []


def test_another_operators_edit_in_between_is_seen(sonic: Sonic) -> None:
    sonic.converge()
    want = replace(profile(), roce=replace(profile().roce, ecn_min_bytes=200000))
    sonic.fault("stale", "apply-patch .*/1.json")
    assert "Ethernet0 lacks 'PORT mtu 9214'" in sonic.converge(want=want).error
    assert sonic.config()["PORT"]["Ethernet0"]["description"] == "maintenance"
    assert (sonic.converge(want=want).error, sonic.converge(want=want).steps) == ("", [])


@pytest.mark.parametrize(
    ("effect", "match"),
    [
        *((effect, match) for effect in ("hang", "reboot") for match in ("systemd-run", PORTS_PATCH, "systemctl stop")),
        ("die", PORTS_PATCH),
    ],
)
def test_a_switch_that_falls_silent_or_restarts_in_mid_change_has_its_old_configuration(
    sonic: Sonic, monkeypatch: pytest.MonkeyPatch, effect: str, match: str
) -> None:
    sonic.edit(configdb.azure)
    before = sonic.config()
    sonic.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, sonic.armed)
    outcome = sonic.converge()
    assert outcome.error
    assert outcome.left
    assert (sonic.config(), sonic.units()) == (before, [])
    assert (sonic.converge().error, sonic.converge().steps) == ("", [])


def wait_unconfirmed(sonic: Sonic) -> None:
    """Make a switch whose change is in force, and whose run was killed before it confirmed."""
    with sonic.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(profile()))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert sonic.units()


def test_a_patch_that_died_half_way_is_reverted_and_its_port_comes_up(sonic: Sonic) -> None:
    sonic.edit(configdb.azure)
    before = sonic.config()
    wait_unconfirmed(sonic)
    with sonic.state() as state:
        state["running"]["PORT"]["Ethernet4"]["admin_status"] = "down"
        del state["running"]["QUEUE"]["Ethernet4|3"], state["running"]["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"]
    (sonic.keys / "clock").write_text("391")
    assert sonic.converge(check=True).steps
    assert (sonic.config(), sonic.units()) == (before, [])


def test_a_job_that_failed_is_cleared_by_the_next_run(sonic: Sonic) -> None:
    with sonic.state() as state:
        state["units"]["drawbridge-dead"] = {"deadline": 0, "command": ["/bin/sh", "/gone"], "failed": True}
    assert sonic.converge().steps[0].startswith("abort the session drawbridge-dead")
    assert sonic.units() == []


def test_a_port_that_the_switch_does_not_have_is_refused_before_anything_is_typed(sonic: Sonic) -> None:
    with (
        sonic.switch(want=replace(profile(), ports=("Ethernet0", "Ethernet2"))) as switch,
        pytest.raises(DeviceError, match="leaf1: it has no Ethernet2, which drawbridge_fabric"),
    ):
        switch.read()


def test_units_are_changes_that_wait_or_failed() -> None:
    waits = parsed(database(), "drawbridge-a.timer loaded active waiting /bin/sh /var/tmp/drawbridge-a/revert")
    assert (waits.waiting, waits.stale) == ("drawbridge-a", ())
    failed = parsed(database(), "drawbridge-a.service loaded failed failed /bin/sh /var/tmp/drawbridge-a/revert")
    assert (failed.waiting, failed.stale) == ("", ("drawbridge-a",))


def test_no_json_is_an_error_with_what_was_printed() -> None:
    with pytest.raises(DialectError, match="it printed no JSON, but 'redis is not running'"):
        parse(("redis is not running", "{}", "", hardware(8)), LEAF)


@pytest.mark.parametrize("row", REFUSALS, ids=[row["id"] for row in REFUSALS])
def test_our_configuration_is_one_that_the_yang_models_take_and_each_refusal_is_seen(
    sonic: Sonic, row: dict[str, str]
) -> None:
    assert not sonic.converge(want=replace(profile(), storage=STORAGE)).error
    config = sonic.config()
    yang.refuse(config)
    config[row["table"]][row["key"]][row["field"]] = row["value"]
    with pytest.raises(Refused, match=row["says"]):
        yang.refuse(config)
