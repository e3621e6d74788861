# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The release of Drawbridge, for files that outlive a run. A test compares it with galaxy.yml."""

from __future__ import annotations

RELEASE = "0.1.0"
