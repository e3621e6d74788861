# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server is down for ten minutes, with the site's own limits. On demand, as long_gate.py is.

Not part of the scenario; docs/concepts/gate-evidence.md has the last result.
"""

from __future__ import annotations

import pytest

from .test_api_down import four_jobs_end_without_the_api

pytestmark = pytest.mark.usefixtures("usable_before")


def test_four_jobs_end_while_the_api_server_is_down_for_ten_minutes() -> None:
    with four_jobs_end_without_the_api(600):
        pass
