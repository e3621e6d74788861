# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.refusals import (
    plugins,
    refusals,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm

from tests.unit.module_utils.site.test_refused import site

RAW = site("example-rails")["drawbridge_slurm"]
SLURM: Slurm = part("slurm", RAW)


def test_slurm_conf_names_a_script_only_if_it_is_there() -> None:
    open_partitions = [{**partition, "gate": False} for partition in RAW["partitions"]]
    ungated: Slurm = part("slurm", {**RAW, "partitions": open_partitions})
    assert (refusals(ungated), plugins(ungated)) == ({}, {})
    assert sorted(refusals(SLURM)) == ["cli_filter.lua", "job_submit.lua"]
    assert plugins(SLURM) == {"CliFilterPlugins": "lua", "JobSubmitPlugins": "lua"}
