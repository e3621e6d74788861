# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch_units import (
    UNIT_CHECKS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Missing,
    Remark,
)

from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import NODE, SYSTEMCTL, UNITS, shown, words

[CHECK] = UNIT_CHECKS
BOARD = replace(NODE, gpus=8)
MANAGER, DAEMON = UNITS


def found(text: str | Output) -> list[Found]:
    return healthy.found(CHECK, BOARD, {(*SYSTEMCTL, *UNITS): text})


@pytest.mark.parametrize("active", ["active", "activating", "reloading"])
def test_units_that_run_have_no_finding(active: str) -> None:
    assert found(f"{shown(MANAGER, active)}\n{shown(DAEMON)}") == []


@pytest.mark.parametrize(
    ("active", "sub", "state"),
    [("failed", "failed", "failed"), ("inactive", "dead", "inactive"), ("activating", "auto-restart", "failed")],
)
def test_a_manager_of_switches_that_does_not_run(active: str, sub: str, state: str) -> None:
    text = f"{shown(MANAGER, active, sub)}\n{shown(DAEMON)}"
    assert found(text) == [Remark("GPU units", "gpu01", f"{MANAGER} is {state}")]


@pytest.mark.parametrize(("active", "warns"), [("failed", True), ("inactive", False)])
def test_a_persistence_daemon_that_failed_only_warns(active: str, warns: bool) -> None:
    text = f"{shown(MANAGER)}\n{shown(DAEMON, active, 'dead')}"
    assert found(text) == ([Remark("GPU units", "gpu01", f"{DAEMON} is {active}", warning=True)] if warns else [])


@pytest.mark.parametrize("loaded", ["not-found", "masked"])
def test_a_unit_that_is_not_installed_has_no_finding(loaded: str) -> None:
    assert found(f"{shown(MANAGER, 'inactive', 'dead', loaded)}\n{shown(DAEMON, 'failed', 'failed', loaded)}") == []


def test_a_host_without_systemd_has_no_finding_and_other_texts_are_missing() -> None:
    words_of = "System has not been booted with systemd as init system (PID 1). Can't operate.\n"
    assert found(Output("", words_of, 1)) == found(Output("", "", 127)) == []
    for output, why in (
        (Output("", "", 124), "it hung"),
        (Output("news\n", "", 0), "not recognised (exit code 0): news"),
    ):
        [missing] = found(output)
        assert isinstance(missing, Missing) and missing.why.startswith(why)


@pytest.mark.parametrize(
    ("product", "gpus", "needed"),
    [
        ("NVIDIA H100 80GB HBM3", 8, True),
        ("NVIDIA A100-SXM4-80GB", 8, True),
        ("NVIDIA H100 80GB HBM3", 4, False),
        ("NVIDIA GB200", 8, False),
        ("NVIDIA L40S", 8, False),
        ("unknown", 8, False),
    ],
)
def test_the_manager_is_needed_where_the_model_and_the_number_have_switches(
    product: str, gpus: int, needed: bool
) -> None:
    [program] = CHECK.programs(replace(NODE, gpu_product=product, gpus=gpus))
    assert words(program)[4:] == ((MANAGER,) if needed else ()) + (DAEMON,)


def test_other_vendors_have_no_units() -> None:
    assert not CHECK.applies(replace(NODE, gpu_vendor="amd")) and not CHECK.applies(replace(NODE, gpus=0))
