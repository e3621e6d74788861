# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Missing, Remark
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import nccl_info_text

from tests.unit.module_utils.proof.transcripts import changed, printed

INFO = printed("nccl_info")
NODES = ("gpu01", "gpu02")


def of_second(old: str, new: str) -> str:
    """The lines with a difference on the second node alone."""
    first, mark, second = INFO.partition("gpu02:")
    return first + changed(mark + second, old, new)


def test_healthy_nodes_have_no_remark() -> None:
    assert nccl_info_text.remarks(INFO, NODES) == [] == nccl_info_text.remarks(INFO, ["gpu01.example.org"])
    assert nccl_info_text.remarks(INFO.replace("gpu01:", "gpu01.example.org:"), NODES) == []


@pytest.mark.parametrize(
    ("old", "new", "name", "why"),
    [
        (" 16 nvls", " 0 nvls", nccl_info_text.NVLS_INACTIVE, "1 of 1 GPUs"),
        ("network IB", "network Socket", nccl_info_text.SOCKET_FALLBACK, "TCP"),
        ("/GDRDMA(PCI)", "", nccl_info_text.NO_GPU_DIRECT, "1 of 2 channels"),
    ],
)
def test_a_wrong_path_is_named_with_its_node(old: str, new: str, name: str, why: str) -> None:
    [remark] = nccl_info_text.remarks(of_second(old, new), NODES)
    assert isinstance(remark, Remark) and (remark.name, remark.where) == (name, "gpu02") and why in remark.why
    assert name in nccl_info_text.NAMES


def test_two_findings_of_one_node() -> None:
    text = changed(of_second(" 16 nvls", " 0 nvls"), "/GDRDMA", "")
    names = [(remark.name, remark.where) for remark in nccl_info_text.remarks(text, NODES)]
    direct = nccl_info_text.NO_GPU_DIRECT
    assert names == [(direct, "gpu01"), (nccl_info_text.NVLS_INACTIVE, "gpu02"), (direct, "gpu02")]


def test_a_socket_has_no_gpu_direct_to_miss() -> None:
    text = changed(of_second("network IB", "network Socket"), "via NET/IB/0/GDRDMA", "via NET/Socket/0")
    names = [remark.name for remark in nccl_info_text.remarks(text, ["gpu02"])]
    assert names == [nccl_info_text.SOCKET_FALLBACK]


@pytest.mark.parametrize("text", ["", INFO.replace("nvls", "other"), INFO.replace("Using network", "With network")])
def test_silence_proves_no_path(text: str) -> None:
    found = nccl_info_text.remarks(text, NODES)
    assert [type(one) for one in found] == [Missing, Missing] and [one.where for one in found] == list(NODES)
    assert isinstance(nccl_info_text.remarks(INFO, ["gpu03"])[0], Missing)
