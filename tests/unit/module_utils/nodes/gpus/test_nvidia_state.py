# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia_state import (
    STATE,
    read,
    read_links,
)

from tests.unit.module_utils.proof.transcripts import changed, printed

XML = printed("nvidia_smi_xml")


def test_the_real_gpu_reads_whole() -> None:
    [gpu] = read([XML])
    assert gpu.unknown == {} and gpu.index == 0
    assert gpu.values == {
        **{state.PRODUCT: "NVIDIA H100 80GB HBM3", state.PCI: "0000:00:06.0", state.ACTIVE: True},
        **{state.GENERATION: 5, state.MOST_GENERATION: 5, state.WIDTH: 16, state.MOST_WIDTH: 16},
        **{state.ECC: True, state.UNCORRECTED: 0, state.BEYOND_REPAIR: "", state.REPAIR_WAITS: ""},
        **{state.REMAP_PENDING: False, state.REMAP_FAILED: False},
        **{state.FABRIC: None, state.FABRIC_STATUS: None, state.FABRIC_HEALTH: None, state.SLOWED: ""},
        **{state.POWER: 700, state.DEFAULT_POWER: 700, state.CLOCK: 1980, state.DEFAULT_CLOCK: 1980},
        **{state.PERSISTENT: True, state.ADVICE: "None", state.HEAT_LEFT: 52},
        **{state.DIVIDING: False, state.INSTANCES: 0},
    }


@pytest.mark.parametrize(
    ("old", "new", "name", "value"),
    [
        ("clocks_event_reason", "clocks_throttle_reason", state.SLOWED, ""),
        ("<gpu_recovery_action>None</gpu_recovery_action>", "", state.ADVICE, None),
        ("<max_device_link_gen>5</max_device_link_gen>", "", state.MOST_GENERATION, 5),
        ("gpu_power_readings", "power_readings", state.DEFAULT_POWER, 700),
        (
            "applications_clocks>\n\t\t\t<graphics_clock>1980 MHz",
            "applications_clocks><graphics_clock>N/A",
            state.CLOCK,
            None,
        ),
        ("1980 MHz", "Requested functionality has been deprecated", state.CLOCK, None),
        ("gpu_temp_slow_tlimit_threshold>", "gpu_temp_slow_threshold>", state.HEAT_LEFT, -39),
        ("<gpu_temp_tlimit>50 C", "<gpu_temp_tlimit>N/A", state.HEAT_LEFT, None),
        ("temperature>", "heat>", state.HEAT_LEFT, None),
    ],
)
def test_fields_of_other_drivers(old: str, new: str, name: str, value: object) -> None:
    [gpu] = read([changed(XML, old, new)])
    assert (gpu.values[name], name in gpu.unknown) == (value, False)


@pytest.mark.parametrize(
    "text", ["", "No devices were found\n", XML.replace("</nvidia_smi_log>", ""), "<nvidia_smi_log>&</nvidia_smi_log>"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="XML"):
        read([text])


def test_links_and_their_text() -> None:
    text = printed("nvidia_smi_nvlink")
    assert read_links(text) == {0: [26.562] * 4, 1: [26.562] * 4}
    assert read_links(text.replace("Link 2: 26.562 GB/s", "Link 2: <inactive>"))[0] == [26.562, 26.562, 0, 26.562]
    for other in ("", "No devices were found", text + "Link 4: ?"):
        with pytest.raises(ValueError):
            read_links(other)


def test_degrees_in_another_form_are_not_known() -> None:
    [gpu] = read([changed(XML, "<gpu_temp_tlimit>50 C", "<gpu_temp_tlimit>[Unknown Error]")])
    assert gpu.unknown == {state.HEAT_LEFT: "[Unknown Error]"}


def test_repairs_that_wait_are_apart_from_memory_that_has_none() -> None:
    text = changed(XML, "<unrepairable_memory>No", "<unrepairable_memory>Yes")
    [gpu] = read([changed(text, "<tpc_repair_pending>No", "<tpc_repair_pending>Yes")])
    assert gpu.values[state.BEYOND_REPAIR] == "memory that can't be repaired"
    assert gpu.values[state.REPAIR_WAITS] == "processors that a reset repairs"


INSTANCE = "<mig_device>\n<index>0</index>\n<gpu_instance_id>1</gpu_instance_id>\n</mig_device>\n"


@pytest.mark.parametrize(
    ("old", "new", "mode", "count"),
    [
        ("<current_mig>Disabled", "<current_mig>Enabled", True, 0),
        ("\t\t\tNone\n", 2 * INSTANCE, False, 2),
        # GPUs that can't be divided, and drivers before 450
        ("<current_mig>Disabled", "<current_mig>N/A", None, 0),
        ("mig_mode>", "mode>", None, 0),
    ],
)
def test_the_mode_for_instances_and_their_number(old: str, new: str, mode: bool | None, count: int) -> None:
    [gpu] = read([changed(XML, old, new)])
    assert (gpu.values[state.DIVIDING], gpu.values[state.INSTANCES], gpu.unknown) == (mode, count, {})


def test_the_reader_covers_what_it_reads() -> None:
    assert STATE.covers == read([XML])[0].values.keys()
