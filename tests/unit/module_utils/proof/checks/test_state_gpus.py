# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state_gpus import (
    GPU_CHECKS,
    WATCHED,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Missing, Remark

from tests.unit.module_utils.nodes.gpus import kfd
from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import DMESG, NODE, NVLINK, OUTPUTS, SMI
from tests.unit.module_utils.proof.transcripts import changed, printed

CHECKS = {check.name: check for check in GPU_CHECKS}
ALL_DOWN = "NVML: Unable to retrieve NVLink information as all links are inActive"


def second(text: str, old: str, new: str) -> str:
    """The text with a difference of GPU 1 alone."""
    first, mark, rest = text.partition('<gpu id="00000000:1C' if "<gpu id" in text else "GPU 1:")
    return first + mark + changed(rest, old, new)


@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_node_has_no_finding(name: str) -> None:
    assert CHECKS[name].applies(NODE) and healthy.found(CHECKS[name]) == []


def test_a_virtual_machine_with_one_gpu_needs_no_switches_and_no_links() -> None:
    alone = replace(NODE, gpus=1)
    [names] = [[name for name, check in CHECKS.items() if check.applies(alone)]]
    assert {*CHECKS} - {*names} == {"GPU link state", "GPU fabric"}
    outputs = {SMI: printed("nvidia_smi_xml")}
    assert [healthy.found(CHECKS[name], alone, outputs) for name in names if name != "GPU faults in the log"] == [
        []
    ] * 10


@pytest.mark.parametrize(
    ("name", "old", "new", "why", "ends"),
    [
        (
            "GPU product",
            "H100 80GB HBM3",
            "H100 PCIe",
            "it is NVIDIA H100 PCIe, the intent says NVIDIA H100 80GB HBM3",
            "repair",
        ),
        (
            "GPU instances",
            "<current_mig>Disabled",
            "<current_mig>Enabled",
            "its mode for instances is on, and it has none: run nvidia-smi -i 1 -mig 0",
            "",
        ),
        (
            "GPU instances",
            "None\n",
            "<mig_device/>\n<mig_device/>\n",
            "it has 2 instances, its class has none: drain the node",
            "",
        ),
        ("GPU PCIe", "<current_link_gen>5", "<current_link_gen>4", "its link has Gen4 x16, the GPU has Gen5 x16", ""),
        ("GPU PCIe", "<current_link_width>16x", "<current_link_width>8x", "Gen5 x8", ""),
        (
            "GPU PCIe",
            "<max_link_gen>5</max_link_gen>\n\t\t\t\t\t<current_link_gen>5",
            "<current_link_gen>4",
            "Gen4",
            "",
        ),
        ("GPU fabric", "<state>Completed", "<state>In Progress", "the fabric's state is In Progress", ""),
        ("GPU fabric", "<status>Success", "<status>Insufficient Resources", "Insufficient Resources", ""),
        ("GPU fabric", "<summary>Healthy", "<summary>Limited Capacity", "Limited Capacity", ""),
        ("GPU memory errors", "<dram_uncorrectable>0", "<dram_uncorrectable>3", "3 uncorrected errors", "reboot"),
        (
            "GPU memory errors",
            "<sram_uncorrectable_parity>0",
            "<sram_uncorrectable_parity>1",
            "1 uncorrected errors",
            "reboot",
        ),
        ("GPU memory errors", "<current_ecc>Enabled", "<current_ecc>Disabled", "ECC is off", ""),
        ("GPU memory errors", "<sram_threshold_exceeded>No", "<sram_threshold_exceeded>Yes", "SRAM", "repair"),
        ("GPU memory errors", "<channel_repair_pending>No", "<channel_repair_pending>Yes", "channel", "reboot"),
        ("GPU memory rows", "<remapped_row_pending>No", "<remapped_row_pending>Yes", "waits for a reset", "reboot"),
        ("GPU memory rows", "<remapped_row_failure>No", "<remapped_row_failure>Yes", "replace the GPU", "repair"),
        (
            "GPU clocks",
            "<clocks_event_reason_hw_thermal_slowdown>Not Active",
            "<clocks_event_reason_hw_thermal_slowdown>Active",
            "clocks are lowered: hw thermal slowdown",
            "",
        ),
        (
            "GPU clocks",
            "1980 MHz</graphics_clock>\n\t\t</app",
            "1200 MHz</graphics_clock>\n\t\t</app",
            "1200 MHz instead",
            "",
        ),
        ("GPU power limit", "<current_power_limit>700", "<current_power_limit>500", "500 W instead of 700 W", ""),
        ("GPU persistence", "<persistence_mode>Enabled", "<persistence_mode>Disabled", "unloaded", ""),
        ("GPU recovery", "<gpu_recovery_action>None", "<gpu_recovery_action>Reset", "asks for: Reset", "reboot"),
    ],
)
def test_a_fault_is_named_with_its_gpu(name: str, old: str, new: str, why: str, ends: str) -> None:
    [found] = healthy.found(CHECKS[name], outputs={SMI: second(OUTPUTS[SMI], old, new)})
    assert isinstance(found, Remark) and (found.name, found.where) == (name, "gpu01 GPU 1") and why in found.why
    assert (found.warning, found.ends) == (name == "GPU persistence", ends)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("GPU instances", "<current_mig>Disabled", "<current_mig>[GPU requires reset]"),
        ("GPU PCIe", "<current_link_gen>5", "<current_link_gen>?"),
        ("GPU PCIe", "<performance_state>P0", "<performance_state>Unknown Error"),
        ("GPU memory errors", "<dram_uncorrectable>0", "<dram_uncorrectable>Unknown Error"),
        ("GPU memory errors", "<current_ecc>Enabled", "<current_ecc>[GPU requires reset]"),
        ("GPU memory rows", "<remapped_row_pending>No", "<remapped_row_pending>Maybe"),
        ("GPU clocks", "<clocks_event_reason_hw_slowdown>Not Active", "<clocks_event_reason_hw_slowdown>1"),
        ("GPU clocks", "clocks_event_reasons>", "clocks_other_reasons>"),
        ("GPU power limit", "<current_power_limit>700.00 W", "<current_power_limit>[Unknown Error]"),
    ],
)
def test_a_value_that_is_not_recognised_is_missing(name: str, old: str, new: str) -> None:
    [found] = healthy.found(CHECKS[name], outputs={SMI: second(OUTPUTS[SMI], old, new)})
    assert isinstance(found, Missing) and (found.name, found.where) == (name, "gpu01 GPU 1")
    assert found.why.startswith("not recognised: ")


def test_a_sleeping_gpu_may_lower_the_generation_of_its_link() -> None:
    text = second(OUTPUTS[SMI], "<current_link_gen>5", "<current_link_gen>1")
    assert healthy.found(CHECKS["GPU PCIe"], outputs={SMI: second(text, "state>P0", "state>P8")}) == []


def test_a_lost_gpu_is_counted_and_the_others_are_placed() -> None:
    [found] = healthy.found(CHECKS["GPUs present"], outputs={SMI: healthy.xml(1)})
    assert found == Remark("GPUs present", "gpu01", "the driver has 1 GPUs of 2 (0000:1b:00.0)", ends="reboot")
    [found] = healthy.found(CHECKS["GPUs present"], outputs={SMI: healthy.xml(3)})
    assert isinstance(found, Remark) and (found.why[:27], found.ends) == ("the driver has 3 GPUs of 2 ", "")


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (Output("", "", 127), "not installed"),
        (Output("", "", 124), "hung"),
        (Output("NVIDIA-SMI has failed because it couldn't communicate", "", 9), "not recognised (exit code 9)"),
        (Output("Unable to determine the device handle for GPU0: Unknown Error", "", 0), "not recognised"),
        (Output(OUTPUTS[SMI].replace("<gpu ", "<gpu <"), "", 0), "invalid XML"),
        (Output(OUTPUTS[SMI][:2000], "", 0), "not recognised"),
    ],
)
def test_without_an_answer_of_the_driver_no_check_passes(output: Output, why: str) -> None:
    for check in CHECKS.values():
        if healthy.words(check.programs(NODE)[0]) == SMI:
            [found] = healthy.found(check, outputs={SMI: output})
            assert isinstance(found, Missing) and found.where == "gpu01" and why in found.why


@pytest.mark.parametrize(
    ("old", "new", "where", "why"),
    [
        ("Link 2: 26.562 GB/s", "Link 2: <inactive>", "gpu01 GPU 1", "links 2 are down"),
        ("Link 2: 26.562 GB/s", "Link 2: 1.5 GB/s", "gpu01 GPU 1", "slow links: 2 (1.5 GB/s) instead of 26.562 GB/s"),
        ("\t Link 3: 26.562 GB/s\n", "", "gpu01 GPU 1", "3 of 4 links are up"),
    ],
)
def test_a_link_that_is_down_or_slow(old: str, new: str, where: str, why: str) -> None:
    [found] = healthy.found(CHECKS["GPU link state"], outputs={NVLINK: second(OUTPUTS[NVLINK], old, new)})
    assert found == Remark("GPU link state", where, why)


def test_no_link_at_all_counts_for_models_that_have_them() -> None:
    text = f"GPU 0: NVIDIA (UUID: GPU-0)\n{ALL_DOWN}\nGPU 1: NVIDIA (UUID: GPU-1)\n{ALL_DOWN}\n"
    [found] = healthy.found(CHECKS["GPU link state"], outputs={NVLINK: text})
    assert found == Remark("GPU link state", "gpu01", "no link of its GPUs is up, H100 SXM have them")
    assert healthy.found(CHECKS["GPU link state"], replace(NODE, gpu_product="NVIDIA L40S"), {NVLINK: text}) == []
    for other in ("", "GPU 0: x\n\t Link 0: soon\n"):
        assert isinstance(healthy.found(CHECKS["GPU link state"], outputs={NVLINK: other})[0], Missing)


def test_faults_of_gpus_in_the_log_count_and_faults_of_jobs_do_not() -> None:
    found = healthy.found(CHECKS["GPU faults in the log"], outputs={DMESG: printed("dmesg")})
    assert [(one.where, one.why.split(":")[0], one.ends) for one in found if isinstance(one, Remark)] == [
        ("gpu01 GPU 0", "Xid 48, an uncorrected memory error", "reboot"),
        ("gpu01 GPU 0000:43:00.0", "Xid 79, the GPU fell off the bus", "reboot"),
        ("gpu01 GPU 0000:52:00.0", "Xid 999, a fault that Drawbridge does not know", "repair"),
    ]
    for output in (Output("", "dmesg: read kernel buffer failed: Operation not permitted", 1), Output("", "", 0)):
        assert isinstance(healthy.found(CHECKS["GPU faults in the log"], outputs={DMESG: output})[0], Missing)


def test_faults_of_links_warn_and_those_of_switches_name_the_switch() -> None:
    words = "NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x026001c6)"
    switch = "nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 24007, Fatal, Link 30 sourcetrack timeout error"
    log = f"{OUTPUTS[DMESG]}[ 9.1] NVRM: Xid (PCI:0000:1c:00): 149, {words}\n[ 9.2] {switch}\n"
    assert healthy.found(CHECKS["GPU faults in the log"], outputs={DMESG: log}) == [
        Remark("GPU faults in the log", "gpu01 GPU 1", f"Xid 149, an error of an NVLink: {words}", warning=True),
        Remark(
            "GPU faults in the log",
            "gpu01 switch 0000:c3:00.0",
            "SXid 24007, a fatal error of a switch: Link 30 sourcetrack timeout error",
            ends="reboot",
        ),
    ]


@pytest.mark.parametrize(("margin", "why"), [("50", ""), ("-1", ""), ("-2", "0 C are left"), ("-5", "-3 C are left")])
def test_a_gpu_at_the_temperature_of_its_slowdown(margin: str, why: str) -> None:
    text = second(OUTPUTS[SMI], "<gpu_temp_tlimit>50 C", f"<gpu_temp_tlimit>{margin} C")
    found = healthy.found(WATCHED[0], outputs={SMI: text})
    words = f"{why} to the temperature where it slows down"
    assert found == ([Remark("GPU temperature", "gpu01 GPU 1", words)] if why else [])


def test_a_temperature_that_is_not_recognised_is_missing_and_one_that_does_not_apply_is_none() -> None:
    text = second(OUTPUTS[SMI], "<gpu_temp_tlimit>50 C", "<gpu_temp_tlimit>hot")
    [found] = healthy.found(WATCHED[0], outputs={SMI: text})
    assert isinstance(found, Missing) and found.why == "not recognised: hot"
    assert healthy.found(WATCHED[0], outputs={SMI: OUTPUTS[SMI].replace("50 C", "N/A")}) == []


AMD = replace(NODE, gpu_vendor="amd", gpu_product="AMD Instinct MI300X OAM", gpus=8)
COVERED = ("GPUs present", "GPU PCIe", "GPU memory errors", "GPU memory rows")
"""Checks of AMD's GPUs that need the kernel's files alone."""
SMI_OF_AMD = ("amd-smi", "static", "--asic", "--bus", "--json")
RAS = "/sys/class/drm/renderD136/device/ras"


@pytest.fixture(scope="module")
def files_of_amd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = kfd.host(tmp_path_factory.mktemp("root"))
    paths = [path for pattern in CHECKS["GPU PCIe"].files(AMD) for path in root.glob(pattern.lstrip("/"))]
    return {f"/{path.relative_to(root)}": path.read_text() for path in paths}


@pytest.mark.parametrize("name", COVERED)
def test_gpus_of_amd_are_read_from_files_and_no_tool_runs(name: str, files_of_amd: dict[str, str]) -> None:
    assert CHECKS[name].programs(AMD) == []
    assert CHECKS[name].found(AMD, [], files_of_amd) == []
    [found] = CHECKS[name].found(AMD, [], {})
    assert isinstance(found, Missing) and found.why.endswith("has no topology: the driver is not loaded")


@pytest.mark.parametrize(
    ("name", "file", "text", "why", "ends"),
    [
        ("GPU memory errors", "umc_err_count", "ue: 3\nce: 0\n", "3 uncorrected errors", "reboot"),
        (
            "GPU memory rows",
            "gpu_vram_bad_pages",
            "0x1 : 0x1000 : P\n",
            "1 bad pages of its memory are still in use",
            "",
        ),
        ("GPU memory rows", "gpu_vram_bad_pages", "0x1 : 0x1000 : F\n", "replace the GPU", "repair"),
        ("GPU PCIe", "../current_link_width", "8\n", "its link has Gen5 x8, the GPU has Gen5 x16", ""),
    ],
)
def test_a_fault_of_a_gpu_of_amd_has_its_place_in_the_kernels_order(
    name: str, file: str, text: str, why: str, ends: str, files_of_amd: dict[str, str]
) -> None:
    path = f"{RAS}/{file}".replace("/ras/..", "")
    assert path in files_of_amd
    [found] = CHECKS[name].found(AMD, [], {**files_of_amd, path: text})
    assert isinstance(found, Remark) and (found.where, found.ends) == ("gpu01 GPU 1", ends) and why in found.why


def test_errors_that_can_not_be_read_while_a_gpu_recovers_are_missing(files_of_amd: dict[str, str]) -> None:
    path = f"{RAS}/umc_err_count"
    [found] = CHECKS["GPU memory errors"].found(AMD, [], {**files_of_amd, path: "Query currently inaccessible\n"})
    assert found == Missing("GPU memory errors", "gpu01 GPU 1", "not recognised: Query currently inaccessible")


def test_the_product_of_a_gpu_of_amd_needs_the_tool_alone(files_of_amd: dict[str, str]) -> None:
    check = CHECKS["GPU product"]
    assert [healthy.words(one) for one in check.programs(AMD)] == [SMI_OF_AMD]
    gpus = [
        {"gpu": at, "asic": {"market_name": AMD.gpu_product}, "bus": {"bdf": f"0000:{5 + 16 * at:02x}:00.0"}}
        for at in range(8)
    ]
    assert check.found(AMD, [Output(json.dumps(gpus), "", 0)], files_of_amd) == []
    gpus[1]["asic"] = {"market_name": "AMD Instinct MI210"}
    [found] = check.found(AMD, [Output(json.dumps(gpus), "", 0)], files_of_amd)
    assert isinstance(found, Remark) and (found.where, found.ends) == ("gpu01 GPU 1", "repair")
    [found] = check.found(AMD, [Output("", "", 127)], files_of_amd)
    assert isinstance(found, Missing) and "not installed" in found.why


def test_a_fault_in_the_log_names_the_gpu_of_amd(files_of_amd: dict[str, str]) -> None:
    words = "socket: 1, die: 0, 1 new uncorrectable hardware errors detected in umc block"
    log = f"[ 9.1] amdgpu 0000:15:00.0: amdgpu: {words}\n"
    check = CHECKS["GPU faults in the log"]
    assert [healthy.words(one) for one in check.programs(AMD)] == [DMESG]
    [found] = check.found(AMD, [Output(log, "", 0)], files_of_amd)
    assert isinstance(found, Remark) and (found.where, found.ends) == ("gpu01 GPU 1", "reboot")


def test_a_vendor_without_a_value_is_said_not_to_be_covered() -> None:
    amd = replace(NODE, gpu_vendor="amd", gpu_product="")
    for name in ("GPU power limit", "GPU link state"):
        [found] = CHECKS[name].found(amd, [], {})
        assert found == Missing("not covered", "class h100", f"{name}: not read of GPUs of amd")
    [found] = CHECKS["GPU faults in the log"].found(replace(NODE, gpu_vendor="other"), [], {})
    assert isinstance(found, Missing) and found.why == "GPU faults in the log: not read of GPUs of other"
    [found] = CHECKS["GPUs present"].found(replace(NODE, gpu_vendor="other"), [], {})
    assert isinstance(found, Missing) and "other" in found.why
