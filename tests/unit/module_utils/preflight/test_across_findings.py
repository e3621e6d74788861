# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.across_findings import across
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

HOSTS = ("gpu01", "gpu02", "gpu03")


WITHOUT_ADA = {**SOUND, "users": {"slurm": [64030, 64030]}}
OTHER_DRIVER = planted("gpus", drivers=["550.90.07"])


@pytest.mark.parametrize(
    ("odd", "texts"),
    [
        ({}, {}),
        # what has no answer is not compared
        ({"facts": {}, "lost": "No route to host"}, {"unreachable": "No route to host"}),
        # a clock is off only if no delay explains it
        ({"clock_s": (299.0, 301.0)}, {"clock_off": "its clock is 299 s ahead"}),
        ({"clock_s": (-61.0, -60.05)}, {"clock_off": "its clock is 60 s behind"}),
        ({"clock_s": (-30.0, 1.0)}, {}),
        (
            {"facts": planted("users", slurm=[1001, 64030])},
            {"uid_differs": "user slurm is 1001:64030, elsewhere 64030:64030"},
        ),
        # users of accounts are needed where jobs run
        ({"facts": WITHOUT_ADA}, {"user_missing": "user ada does not exist"}),
        ({"facts": WITHOUT_ADA, "want": {**WANT, "accounts": []}}, {}),
        # drivers are compared within a node class
        ({"facts": OTHER_DRIVER}, {"gpu_driver_differs": "GPU driver 550.90.07, elsewhere 570.148.08"}),
        ({"facts": OTHER_DRIVER, "want": {**WANT, "class": "a100"}}, {}),
    ],
)
def test_the_one_that_differs_from_most_hosts_is_named(odd: dict[str, Any], texts: dict[str, str]) -> None:
    """Three sound nodes, of which the last one has other answers."""
    last = {"facts": SOUND, "want": WANT, "clock_s": (-0.3, 0.4), **odd}
    answers = [*(Answer(host, SOUND, WANT, (-0.4, 0.5)) for host in HOSTS[:-1]), Answer(HOSTS[-1], **last)]
    assert [(it.name, it.host, it.text) for it in across(answers)] == [
        (name, "gpu03", it) for name, it in texts.items()
    ]


def test_no_hosts_have_no_finding() -> None:
    assert list(across([])) == []
