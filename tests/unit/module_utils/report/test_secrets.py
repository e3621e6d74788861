# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What looks like a secret, and what does not."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.secrets import redacted

BOOTSTRAP = "x5yetk.0n4o18h5cye0c87y"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "said",
    [
        f"kubeadm join --token {BOOTSTRAP} failed",
        f"Authorization: Bearer {JWT}",
        f"token {JWT}",
        "https://admin:hunter22@host/path",
        'password="hunter22" is wrong',
        "StoragePass: x\nslurm_db_password: hunter22",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_replaced(said: str) -> None:
    for secret in ("hunter22", BOOTSTRAP, JWT, JWT.rsplit(".", 1)[0]):
        assert secret not in redacted(said)


@pytest.mark.parametrize(
    "said", ["add slurm_gate_replace_tokens: true", "write a token of system:serviceaccount:drawbridge-gate:opener"]
)
def test_text_without_a_secret_stays(said: str) -> None:
    assert redacted(said) == said
