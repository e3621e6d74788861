# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Join a host to the cluster, or remove it. Steps that need the kubeconfig run here, the others on the host."""

from __future__ import annotations

from ..plugin_utils.controller_side import HostAction
from ..plugin_utils.kube_member import KubeMember


class ActionModule(HostAction):
    """Predicts on the host first; most runs end there."""

    side = KubeMember
