# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.views.slurm.books import books

from tests.unit.intent.test_refused import site


def test_accounts_keep_their_order_because_the_first_is_a_users_default() -> None:
    assert books(part("slurm", site("lab")["drawbridge_slurm"])) == {
        "cluster": "lab",
        "accounts": [
            {"name": "vision", "users": ["ada", "ben"]},
            {"name": "speech", "users": ["cleo"]},
            {"name": "chem", "users": ["dan"]},
        ],
    }
