# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.df_text import used


def test_each_mount_point_once_with_what_it_counts() -> None:
    text = "Use% IUse% Mounted on\n 17%    4% /\n 17%    4% /\n100%     - /mnt/a b\n   -     - /proc\n"
    assert used(text) == {"/": {"bytes": 17, "inodes": 4}, "/mnt/a b": {"bytes": 100}, "/proc": {}}


def test_other_texts_have_no_mount_point() -> None:
    assert used("") == used("df: /: No such file or directory\n") == {}
