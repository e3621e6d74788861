# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.retire_io import Retiring

from tests.unit.module_utils.answers import Answers


def test_no_list_of_jobs_is_an_error() -> None:
    shown = "NodeName=gpu05 State=MIXED+DRAIN\nNode gpu06 not found\n"
    retiring = Retiring(Answers({"scontrol show node": shown, "squeue": DeviceError("no answer")}), ["gpu05", "gpu06"])
    retiring.read()
    with pytest.raises(DeviceError, match="no answer"):
        retiring.left(0)
