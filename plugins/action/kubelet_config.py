# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a kubelet's NUMA configuration before its host is contacted, then run the module on the host."""

from __future__ import annotations

from ..plugin_utils.controller_side import HostAction
from ..plugin_utils.kubelet_config import KubeletConfig


class ActionModule(HostAction):
    """Refuses a configuration that a kubelet would refuse or ignore."""

    side = KubeletConfig
