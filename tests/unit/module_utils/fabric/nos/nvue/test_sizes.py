# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.sizes import size_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("55 Bytes", 55), ("146.48 KB", 149996), ("7.29 MB", 7644119), ("0", 0), (12, 12), ("1.00 GB", 1024**3)],
)
def test_sizes_as_nvue_shows_them(text: object, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["none", "", "7 parsecs"])
def test_other_text_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is no size"):
        size_bytes(text)
