# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.hostlist_sorted import FilterModule

hostlist_sorted = FilterModule().filters()["hostlist_sorted"]


def test_names_and_expressions_are_read() -> None:
    assert hostlist_sorted(["n3", "n1", "n2"]) == "n[1-3]"
    assert hostlist_sorted("n10,n9") == "n[9-10]"


@pytest.mark.parametrize("bad", ["n[2-1]", 7])
def test_what_names_no_hosts_is_refused(bad: object) -> None:
    with pytest.raises(AnsibleFilterError, match="can't be read as names of hosts"):
        hostlist_sorted(bad)
