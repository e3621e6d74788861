# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.hostlist_expand import FilterModule

hostlist_expand = FilterModule().filters()["hostlist_expand"]


def test_names_come_in_slurms_order() -> None:
    assert hostlist_expand("r[1-2]n[1-2],login") == ["r1n1", "r1n2", "r2n1", "r2n2", "login"]


def test_what_slurm_refuses_is_refused_with_the_part() -> None:
    with pytest.raises(AnsibleFilterError, match=r"n\[2-1\].*runs backwards"):
        hostlist_expand("n1,n[2-1]")
