# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.text import (
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import (
    INTERRUPTING,
    QUIET,
    Traffic,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from lab.emulators.fabric.sonic import configdb, yang
from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_switch import ROOT, profile
from tests.unit.emulated_systems import Sonic
from tests.unit.module_utils.fabric.each_system import STATES

NAMES = json.dumps({"COUNTERS_PORT_NAME_MAP": {"value": {"Ethernet0": "oid:0x1"}}})
LEAF = profile("sonic", 1)


def database(**tables: Any) -> dict[str, Any]:
    return {**configdb.factory("leaf1", "xgs", 1, "10.77.1.41")["running"], **tables}


def hardware(mask: int) -> str:
    port = {"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": {"value": {"SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": str(mask)}}}
    return f"{NAMES}\n{json.dumps(port)}"


def parsed(config: dict[str, Any], units: str = "", mask: int = 8) -> Any:
    text = json.dumps(config)
    return parse((text, text, units, hardware(mask)), LEAF)


def test_half_a_profile_is_completed_and_what_an_old_class_left_goes(sonic: Sonic) -> None:
    for row in STATES["sonic"]["ours"]:
        sonic.type(*row.split(" ; "))
    predicted = sonic.converge(check=True)
    done = sonic.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert sonic.converge().steps == []
    assert not any("ROCE_OLD" in line for line in sonic.lines())


def test_ecn_thresholds_change_without_a_flap_and_without_consent(sonic: Sonic) -> None:
    assert not sonic.converge().error
    want = replace(sonic.profile, roce=replace(sonic.profile.roce, ecn_min_bytes=200000))
    done = sonic.converge(want=want, traffic=Traffic({}, use=ClusterUse(frozenset(), why_unknown="")))
    assert (done.error, done.pending, sonic.flaps()) == ("", [], [1, 1, 0, 0])
    assert "WRED_PROFILE|ROCE green_min_threshold 200000" in sonic.lines()


def test_definitions_come_first_and_ports_by_consent_in_a_second_phase(sonic: Sonic) -> None:
    busy = Traffic({"Ethernet0": ["gpu01"], "Ethernet4": ["gpu02"]}, use=ClusterUse(), allowed=True, phase=QUIET)
    quiet = sonic.converge(traffic=busy)
    assert (quiet.error, quiet.changed, quiet.pending, sonic.flaps()) == ("", True, [], [0, 0, 0, 0])
    later = sonic.converge(traffic=replace(busy, phase=INTERRUPTING))
    assert (later.error, later.changed, sonic.flaps()) == ("", True, [1, 1, 0, 0])
    assert sonic.converge().steps == []


def test_another_operators_edit_in_between_is_seen(sonic: Sonic) -> None:
    sonic.converge()
    want = replace(sonic.profile, roce=replace(sonic.profile.roce, ecn_min_bytes=200000))
    sonic.fault("stale", "config load")
    assert "Ethernet0 lacks 'PORT mtu 9214'" in sonic.converge(want=want).error
    assert "PORT|Ethernet0 description maintenance" in sonic.lines()
    assert (sonic.converge(want=want).error, sonic.converge(want=want).steps) == ("", [])


def test_a_value_that_is_the_empty_text_is_replaced_and_comes_back(sonic: Sonic) -> None:
    """Service ports have it in PORT_QOS_MAP: sonic-buildimage 24161."""
    sonic.type("PORT_QOS_MAP|Ethernet0 pfc_enable ", "PORT_QOS_MAP|Ethernet0 pfc_to_queue_map ")
    sonic.type("PORT_QOS_MAP|Ethernet4 dscp_to_tc_map ", "PORT_QOS_MAP|Ethernet4 pfcwd_sw_enable ")
    before = sonic.lines()
    sonic.leave_unproven()
    sonic.pass_time(391)
    assert (sonic.converge(check=True).changed, sonic.lines()) == (True, before)
    assert sonic.converge().error == ""
    assert "PORT_QOS_MAP|Ethernet0 pfc_enable 3" in sonic.lines()
    assert sonic.converge().steps == []


def test_a_roll_back_leaves_no_field_that_the_command_of_the_watchdog_adds(sonic: Sonic) -> None:
    ports = (0, 4)
    sonic.type(*(f"PFC_WD|Ethernet{port} action drop" for port in ports))
    sonic.type(*(f"PFC_WD|Ethernet{port} detection_time 400" for port in ports))
    sonic.type(*(f"PFC_WD|Ethernet{port} restoration_time 800" for port in ports))
    sonic.type("PFC_WD|Ethernet4 pfc_stat_history enable")
    before = sonic.lines()
    sonic.leave_unproven()
    assert "PFC_WD|Ethernet0 pfc_stat_history disable" in sonic.lines()
    sonic.pass_time(391)
    sonic.converge(check=True)
    assert sonic.lines() == before


@pytest.mark.parametrize("release", ["sonic", "sonic24"])
def test_no_patch_has_a_table_that_the_updater_of_some_release_guards(
    release: str, request: pytest.FixtureRequest
) -> None:
    switch = request.getfixturevalue(release)
    assert switch.converge().error == ""
    with switch.state() as state:
        patches = [text for path, text in state["files"].items() if re.search(r"/\d\.json$", path)]
    assert len(patches) == 2
    assert not any(table in text for text in patches for table in ("WRED_PROFILE", "PFC_WD"))
    assert "WRED_PROFILE|ROCE green_min_threshold 150000" in switch.lines()


def test_a_field_of_the_wred_profile_that_a_person_changed_is_put_right(sonic: Sonic) -> None:
    assert sonic.converge().error == ""
    sonic.type("WRED_PROFILE|ROCE ecn ecn_green", "WRED_PROFILE|ROCE wred_blue_enable true")
    assert sonic.converge().error == ""
    assert "WRED_PROFILE|ROCE ecn ecn_all" in sonic.lines()
    assert "WRED_PROFILE|ROCE wred_blue_enable true" not in sonic.lines()


def test_only_spectrum_has_a_map_of_paused_priorities_and_that_of_a_broadcom_switch_stays(sonic: Sonic) -> None:
    spectrum, broadcom = (
        [line for _unused, part in render(replace(LEAF, asic=asic)).sections for line in part]
        for asic in ("spectrum4", "tomahawk5")
    )
    assert {"   PORT_QOS_MAP pfc_to_pg_map ROCE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|ROCE 3 3"} <= {*spectrum}
    assert not [line for line in broadcom if "pfc_to_pg_map" in line or line.startswith("PFC_PRIORITY")]
    sonic.type("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|SITE 3 3", "PORT_QOS_MAP|Ethernet0 pfc_to_pg_map SITE")
    assert sonic.converge().error == ""
    assert "PORT_QOS_MAP|Ethernet0 pfc_to_pg_map SITE" in sonic.lines()


def test_a_patch_that_died_half_way_is_reverted_and_its_port_comes_up(sonic: Sonic) -> None:
    sonic.type("config qos reload")
    before = sonic.lines()
    sonic.leave_unproven()
    with sonic.state() as state:
        state["running"]["PORT"]["Ethernet4"]["admin_status"] = "down"
        del state["running"]["QUEUE"]["Ethernet4|3"], state["running"]["PORT_QOS_MAP"]["Ethernet4"]["pfc_enable"]
    sonic.pass_time(391)
    assert sonic.converge(check=True).steps
    assert (sonic.lines(), sonic.waiting()) == (before, False)


def test_a_job_that_failed_is_cleared_by_the_next_run(sonic: Sonic) -> None:
    with sonic.state() as state:
        state["units"]["drawbridge-dead"] = {"deadline": 0, "command": ["/bin/sh", "/gone"], "failed": True}
    assert sonic.converge().steps[0].startswith("abort the session drawbridge-dead")
    assert not sonic.waiting()


def test_units_are_changes_that_wait_or_failed() -> None:
    waits = parsed(database(), "drawbridge-a.timer loaded active waiting /bin/sh /var/tmp/drawbridge-a/revert")
    assert (waits.waiting, waits.stale) == ("drawbridge-a", ())
    failed = parsed(database(), "drawbridge-a.service loaded failed failed /bin/sh /var/tmp/drawbridge-a/revert")
    assert (failed.waiting, failed.stale) == ("", ("drawbridge-a",))


def test_no_json_is_an_error_with_the_printed_text() -> None:
    with pytest.raises(DialectError, match="it printed no JSON, but 'redis is not running'"):
        parse(("redis is not running", "{}", "", hardware(8)), LEAF)


def test_our_configuration_is_one_that_the_yang_models_take_and_each_refusal_is_seen(sonic: Sonic) -> None:
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True)
    assert not sonic.converge(want=replace(sonic.profile, storage=storage)).error
    with sonic.state() as state:
        taken = copy.deepcopy(state["running"])
    yang.refuse(taken)
    for row in yaml.safe_load((ROOT / "tests/lab/emulators/fabric/sonic/refusals.yml").read_text()):
        config = copy.deepcopy(taken)
        config[row["table"]][row["key"]][row["field"]] = row["value"]
        with pytest.raises(Refused, match=row["says"]):
            yang.refuse(config)
