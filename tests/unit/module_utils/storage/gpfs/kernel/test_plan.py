# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.kernel.plan import (
    KernelState,
    plan,
)

WANT = KernelState("6.8.0-41-generic", release="5.2.3-0", kernels=("6.8.0-*-generic",))
LACKS = replace(WANT, built=False)


@pytest.mark.parametrize(
    "have",
    [replace(LACKS, headers=False), replace(LACKS, prebuilt=True), replace(LACKS, kernels=("6.5.*",))],
)
def test_a_refusal_names_the_kernel_and_the_version(have: KernelState) -> None:
    [step] = plan(have, WANT)
    assert "6.8.0-41-generic" in step.refused and "5.2.3-0" in step.refused
