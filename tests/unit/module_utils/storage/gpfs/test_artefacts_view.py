# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.artefacts_view import (
    gpfs_csi,
    mm_auth,
    mm_config,
    mm_fileset,
    mm_policy,
    mm_quota,
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


def test_a_project_is_its_fileset_its_limits_and_its_rule() -> None:
    plain = {"state": "linked", "comment": "", "inode_limit": 0, "inode_prealloc": 0, "closed": False}
    top = {"owner": "root", "group": "vision", "mode": "2770"}
    vision = {**plain, **top, "name": "vision", "junction": "/gpfs/fs1/projects/vision", "inode_limit": 2000}
    gone = {**plain, **top, "name": "old", "junction": "/gpfs/fs1/projects/old", "state": "absent"}
    assert mm_fileset("fs1", [vision, gone]).lines == [
        "mmcrfileset fs1 vision -t 'drawbridge project vision' --inode-space new --inode-limit 2000",
        "mmlinkfileset fs1 vision -J /gpfs/fs1/projects/vision # for root:vision 2770",
        "mmunlinkfileset fs1 old",
        "mmdelfileset fs1 old -f",
    ]
    assert mm_quota("fs1", [{"name": "vision", "block_kib": 1024, "inodes": 0}]).lines == [
        "mmsetquota fs1:vision --block 1024K:1024K --files 0:0"
    ]
    assert mm_policy("fs1", [{"name": "vision", "pool": "flash"}], "").lines == [
        "mmchpolicy fs1 FILE # with these lines",
        "RULE 'drawbridge vision' SET POOL 'flash' FOR FILESET ('vision')",
        "RULE 'drawbridge: other files' SET POOL 'system'",
    ]


def test_the_driver_is_ibms_manifest_and_objects_without_a_password() -> None:
    resource = {"kind": "CSIScaleOperator", "spec": {"clusters": [{"secrets": "drawbridge-cluster"}]}}
    found = gpfs_csi("present", "https://a/operator.yaml", [{"kind": "StorageClass"}], resource)
    assert [it["kind"] for it in found.objects] == ["StorageClass", "CSIScaleOperator"]
    assert found.lines == [
        "IBM's manifest https://a/operator.yaml",
        "Secret drawbridge-cluster-a or -b: user and password of a GUI",
    ]
    assert not gpfs_csi("absent", "", [], {}).objects
