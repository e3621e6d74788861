# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.release import RELEASE


def test_it_is_that_of_the_collection() -> None:
    galaxy = Path(__file__).resolve().parents[4] / "galaxy.yml"
    assert yaml.safe_load(galaxy.read_text())["version"] == RELEASE
