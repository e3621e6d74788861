# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import describe_text as text


def test_a_slurm_conf_without_a_line_that_is_known_says_nothing() -> None:
    """What hosts have is read in test_describe_io.py."""
    nothing = {"cluster": "", "controller": "", "accounting": "", "partitions": []}
    assert text.slurm_conf("AccountingStoragePass=secret\n") == nothing


@pytest.mark.parametrize("address", ["http://10.0.0.1:6443", "https://rancher.example.org/k8s/clusters/c-1", ""])
def test_an_address_that_the_intent_does_not_take_is_none(address: str) -> None:
    assert text.api_server(f"    server: {address}\n") == ""
