# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where GPFS's kernel modules come from."""

from __future__ import annotations

BUILD, PREBUILT = "build", "prebuilt"
"""Built on each node, or a package of the site."""
