# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.artefacts_view import (
    mm_auth,
    mm_config,
    mm_remote,
)


def test_both_sides_of_a_remote_mount() -> None:
    assert mm_auth("here", "ff", [{"device": "fs1", "access": "ro"}], "root").lines == [
        "mmauth add here -k FILE # with the digest ff",
        "mmauth grant here -f fs1 -a ro -r no",
    ]
    filesystem = {"device": "data", "owner_device": "fs1", "mount": "/data", "access": "rw"}
    assert mm_remote("there", "ee", ["a", "b"], [filesystem]).lines == [
        "mmremotecluster add there -n a,b -k FILE # with the digest ee",
        "mmremotefs add data -f fs1 -C there -T /data -A no -o rw",
    ]


def test_a_value_with_blanks_is_one_word_for_a_shell() -> None:
    settings = {"verbsRdma": "enable", "verbsPorts": "mlx5_0/1 mlx5_1/1"}
    assert mm_config([{"name": "h100", "nodes": ["gpu01"], "settings": settings}]).lines == [
        "mmcrnodeclass h100 -N gpu01",
        "mmchconfig 'verbsRdma=enable,verbsPorts=mlx5_0/1 mlx5_1/1' -N h100",
    ]
