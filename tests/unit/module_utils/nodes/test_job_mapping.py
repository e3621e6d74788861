# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.job_mapping import JOB_MAPPING

PROGRAM = Path(__file__).parents[4] / "roles/slurm_node/files/slurm-job-gpus.py"


def test_the_exporter_reads_where_the_prolog_writes() -> None:
    for folder in (JOB_MAPPING, VENDORS["amd"].job_mapping):
        assert f'Form(Path("{folder}"), ' in PROGRAM.read_text()
