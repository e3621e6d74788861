# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.state import StateReader


def test_a_reader_without_links_reads_none() -> None:
    assert StateReader((), lambda texts: [], frozenset()).read_links("") == {}
