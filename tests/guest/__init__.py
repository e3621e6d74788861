# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual machines with Debian's own kernel that run one script and stop."""
