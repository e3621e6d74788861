# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run would place at each example site is in tests/golden; a change shows here and in `git diff`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.tree import ROOT
from tests.golden.plans import HOME, SITES, copied, difference, files, kept, planned


@pytest.mark.parametrize("site", SITES)
def test_runs_place_what_they_did(site: str, tmp_path: Path) -> None:
    plan = planned(ROOT / "inventories" / site, tmp_path / "plan")
    found = list(difference(files(HOME / site), {name: text for name, text in plan.items() if kept(site, name)}))
    assert not found, "\n".join(["if this is meant, run `make golden`:", *found])


def test_every_plan_has_its_site() -> None:
    assert sorted(path.name for path in HOME.iterdir() if path.is_dir() and path.name != "__pycache__") == SITES


def test_another_dscp_shows_on_every_layer(tmp_path: Path) -> None:
    inventory = copied(tmp_path, ("group_vars/all/fabric.yml", "dscp: 26", "dscp: 30"))
    found = list(difference(files(HOME / "example-rails"), planned(inventory, tmp_path / "plan")))
    rdma_cm = [
        f"{sign}    rail{rail} mlx5_{rail} default_roce_tos: {tos}"
        for rail in range(8)
        for sign, tos in (("-", 106), ("+", 122))
    ]
    assert [line for line in found if line[0] in "+-"] == [
        *("--- nodes/h100/etc/drawbridge/nic.json", "+++ nodes/h100/etc/drawbridge/nic.json"),
        *('-                    "dscp": 26,', '+                    "dscp": 30,'),
        *('-            "tos": 106', '+            "tos": 122'),
        *("--- nodes/h100/etc/nccl.conf", "+++ nodes/h100/etc/nccl.conf"),
        *("-NCCL_IB_TC=106", "+NCCL_IB_TC=122"),
        *("--- nodes/h100/steps.txt", "+++ nodes/h100/steps.txt", *rdma_cm),
        *(f"{sign * 3} slurm_controller/etc/drawbridge/proof.json" for sign in "-+"),
        *('-            "tclass": 106,', '+            "tclass": 122,'),
        *("--- switches/leaf01/steps.txt", "+++ switches/leaf01/steps.txt"),
        *("-    qos map dscp 26 to traffic-class 3", "+    qos map dscp 30 to traffic-class 3"),
        *("--- switches/spine1/steps.txt", "+++ switches/spine1/steps.txt"),
        *("-    qos map dscp 26 to traffic-class 3", "+    qos map dscp 30 to traffic-class 3"),
        *("--- switches/store1/steps.txt", "+++ switches/store1/steps.txt"),
        "-    nv set qos mapping default-global dscp 26 switch-priority 3",
        "+    nv set qos mapping default-global dscp 30 switch-priority 3",
        *("--- switches/store2/steps.txt", "+++ switches/store2/steps.txt"),
        *(f"-    + DSCP_TO_TC_MAP|ROCE {row}" for row in ("0-25 0", "26 3", "27-33 0")),
        *(f"+    + DSCP_TO_TC_MAP|ROCE {row}" for row in ("0-29 0", "30 3", "31-33 0")),
    ]
