# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of dcgm-exporter's counters, as its reader splits it: field, kind, help."""

from __future__ import annotations

import csv
import re

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.dcgm import counters


def test_each_line_has_a_field_a_kind_and_a_text() -> None:
    rows = [[word.strip() for word in row] for row in csv.reader(counters().splitlines())]
    assert {len(row) for row in rows} == {3}
    assert all(re.fullmatch(r"DCGM_FI_(DEV|PROF)_[A-Z_]+", field) and about for field, _kind, about in rows)
    assert {kind for _field, kind, _about in rows} == {"gauge", "counter"}
    fields = [field for field, _kind, _about in rows]
    assert len(set(fields)) == len(fields)
    assert {"DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_XID_ERRORS"} <= set(fields)
