# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs on a node that confines them: a virtual machine with cgroup v2, built with production's defaults."""
