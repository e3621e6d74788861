# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import of_version


@pytest.mark.parametrize(
    ("printed", "release"),
    [("slurm-wlm 24.11.5\n", "24.11"), ("slurm 26.05.3\n", "26.05"), ("", "")],  # Debian 13, upstream's own build
)
def test_the_release_of_a_printed_version(printed: str, release: str) -> None:
    assert of_version(printed) == release
