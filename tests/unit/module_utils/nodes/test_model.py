# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.unit.module_utils.site.test_refused import site

NODES = part("nodes", site("lab")["drawbridge_nodes"])


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(IntentError, match=r'drawbridge_nodes\.ranges is "gpu99", but no range has this node'):
        NODES.class_of("gpu99")
