# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of NVIDIA's tools for instances."""

from __future__ import annotations

import json
import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia_mig_tools import (
    DIVIDER,
    LABEL,
    configuration,
    modes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendor import Mode


def test_the_mode_is_read_with_the_one_after_a_reset() -> None:
    text = "0, Enabled, Enabled\n1, Disabled, Enabled\n2, [N/A], [N/A]\n"
    assert modes(text) == [Mode(True, True), Mode(False, True), Mode(possible=False)]
    assert modes("") == []


@pytest.mark.parametrize(
    "text", ["0, Enabled\n", "0, [Unknown Error], Enabled\n", "1, Enabled, Enabled\n", "0, [N/A], Enabled\n", "None\n"]
)
def test_an_unknown_mode_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text.strip())):
        modes(text)


def test_each_gpu_is_in_one_entry_of_one_label() -> None:
    layouts = [{}, {"3g.40gb": 1, "1g.10gb": 2}, {}, {"1g.10gb": 2, "3g.40gb": 1}]
    found = json.loads(configuration(layouts))
    assert (found["version"], [*found["mig-configs"]]) == ("v1", [LABEL])
    assert found["mig-configs"][LABEL] == [
        {"devices": [0, 2], "mig-enabled": False, "mig-devices": {}},
        {"devices": [1, 3], "mig-enabled": True, "mig-devices": {"3g.40gb": 1, "1g.10gb": 2}},
    ]
    assert LABEL in DIVIDER.apply and LABEL in DIVIDER.check


@pytest.mark.parametrize(
    ("text", "in_use"),
    [
        ("error destroying Compute instance for profile '(2, 0)': ERROR_IN_USE", True),
        ("Unable to create a GPU instance on GPU  0 using profile 9: In use by another client", True),
        ("00000000:07:00.0 is currently being used by one or more other processes", True),
        ("error attempting multiple config orderings: all orderings failed", False),
    ],
)
def test_a_gpu_that_a_program_holds_differs_from_other_failures(text: str, in_use: bool) -> None:
    assert bool(re.search(DIVIDER.in_use, text)) is in_use
