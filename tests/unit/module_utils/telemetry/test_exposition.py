# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The text of a file of metrics."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import exposition
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.exposition import Sample

DRAINED = "drawbridge_slurm_node_drained_info"


def test_families_and_labels_have_the_tables_order() -> None:
    samples = [
        Sample("drawbridge_slurm_nodes", {"state": "idle"}, 3),
        Sample("drawbridge_slurm_up", {}, 1),
        Sample("drawbridge_slurm_nodes", {"state": "down"}, 0),
        Sample("drawbridge_slurm_read_timestamp_seconds", {}, 1796000000.25),
    ]
    lines = exposition.text(samples).split("\n")
    assert [line for line in lines if not line.startswith("#")] == [
        "drawbridge_slurm_up 1",
        "drawbridge_slurm_read_timestamp_seconds 1796000000.25",
        'drawbridge_slurm_nodes{state="idle"} 3',
        'drawbridge_slurm_nodes{state="down"} 0',
        "",
    ]
    assert lines[1] == "# TYPE drawbridge_slurm_up gauge"
    assert exposition.text([]) == ""


def test_a_reason_of_a_person_can_not_end_its_label() -> None:
    labels = {"node": "gpu01", "origin": "person", "reason": 'a "b"\\\nc\x1b[1m'}
    last = exposition.text([Sample(DRAINED, labels, 1)]).splitlines()[-1]
    assert last == f'{DRAINED}{{node="gpu01",origin="person",reason="a \\"b\\"\\\\\\nc?[1m"}} 1'


@pytest.mark.parametrize(
    "samples",
    [
        [Sample("drawbridge_slurm_other", {}, 1)],
        [Sample("drawbridge_slurm_nodes", {}, 1)],
        [Sample("drawbridge_slurm_up", {"node": "gpu01"}, 1)],
        [Sample("drawbridge_slurm_up", {}, 1)] * 2,
    ],
    ids=["unknown", "without its label", "with another label", "twice"],
)
def test_what_node_exporter_would_drop_is_refused(samples: list[Sample]) -> None:
    with pytest.raises(ValueError, match="drawbridge_slurm_"):
        exposition.text(samples)
