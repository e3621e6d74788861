# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.naming import named


def test_a_failure_names_its_step_and_keeps_its_details() -> None:
    step: Step[Any] = Step("rail1: set MTU 9000, not 1500", lambda state: state)
    with pytest.raises(DeviceError, match=r"^rail1: set MTU 9000, not 1500: ip failed: no$") as failure, named(step):
        raise DeviceError("ip failed: no", rc=2)
    assert failure.value.details == {"rc": 2}
