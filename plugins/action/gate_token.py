# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give a host a ServiceAccount's token, requested here, where the kubeconfig is."""

from __future__ import annotations

from ..plugin_utils.controller_side import HostAction
from ..plugin_utils.gate_token import GateToken


class ActionModule(HostAction):
    """Checks the host's token first; most runs end there."""

    side = GateToken
