# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends import Asked, Texts, values

RAILS = {"rail0": "mlx5_0", "rail1": "mlx5_1"}
ASKED = Asked(
    "gpu01", "4f2a", 30, RAILS, "/sys/module/nvidia/version", "/proc/driver/nvidia/gpus/*/information", "GPU UUID"
)
ABOUT = "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-{0}{0}\nDevice Minor: \t {0}\n"
FIRMWARE = dict.fromkeys(RAILS.values(), "28.43.1014")
CABLES = {"rail0": ("leaf1", "Ethernet1"), "rail1": ("leaf2", "Ethernet1"), "eth0": ("mgmt1", "7")}
TEXTS = Texts("6.12.48", "580.95.05\n", [ABOUT.format(number) for number in range(2)], FIRMWARE, CABLES)


def test_all_that_a_proof_depends_on_has_a_name() -> None:
    assert values(ASKED, TEXTS) == {
        "intent": "4f2a",
        "kernel": "6.12.48",
        "GPU driver": "580.95.05",
        "GPUs": "2 with digest c25af29fcf39e47d",
        "firmware of mlx5_0": "28.43.1014",
        "firmware of mlx5_1": "28.43.1014",
        "cable of rail0": "leaf1 Ethernet1",
        "cable of rail1": "leaf2 Ethernet1",
    }


def test_what_can_not_be_read_is_absent() -> None:
    assert values(ASKED, Texts()) == {"intent": "4f2a"}
    assert values(Asked("gpu01", "4f2a"), TEXTS).keys() == {"intent", "kernel", "GPU driver"}


@pytest.mark.parametrize(
    ("gpus", "same"),
    [
        ([1, 0], True),
        ([0, 2], False),
        ([0], False),
        ([0, "?"], None),
    ],
    ids=str,
)
def test_gpus_are_their_identities_in_any_order(gpus: list[Any], same: bool | None) -> None:
    found = values(ASKED, Texts(gpus=[ABOUT.format(gpu) for gpu in gpus])).get("GPUs")
    assert (found and found == values(ASKED, TEXTS)["GPUs"]) is same


def test_a_gpu_without_an_identity_leaves_all_unknown() -> None:
    assert "GPUs" not in values(ASKED, Texts(gpus=[ABOUT.format(0), "Device Minor: 1\n"]))


def test_a_file_with_an_identity_alone_needs_no_key() -> None:
    asked = replace(ASKED, gpu_key="")
    found = [values(asked, Texts(gpus=ids)).get("GPUs") for ids in (["0a\n", "0b\n"], ["0b\n", "0a\n"], ["0a\n", ""])]
    assert found[0] == found[1] and str(found[0]).startswith("2 with digest") and found[2] is None


def test_the_settings_come_back_from_their_file() -> None:
    assert Asked.parse(ASKED.text()) == ASKED


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"node": "gpu01", "intent": "4f2a", "more": 1}'])
def test_another_text_has_no_settings(text: str) -> None:
    with pytest.raises(ValueError):
        Asked.parse(text)
