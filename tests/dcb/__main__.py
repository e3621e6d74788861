# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make dcb`: build the driver, boot a virtual machine with it, and set its ports' QoS. Further words go to pytest."""

from __future__ import annotations

import sys

import pytest

from lab.hosts.paths import REPOSITORY

if __name__ == "__main__":
    sys.exit(pytest.main(["-m", "live", *sys.argv[1:], str(REPOSITORY / "tests/dcb")]))
