# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's side of a kubelet's configuration: it is checked before the host is contacted."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import MappingProxyType

from ..module_utils.drawbridge.core.consent import variable
from ..module_utils.drawbridge.kube.kubelet.check import changed_reservations, faults
from ..module_utils.drawbridge.kube.options import KUBELET
from ..module_utils.drawbridge.nodes.numa import Machine
from .controller_side import Options, Refused, Result

OWN = {
    "derived": {"type": "dict", "required": True},
    "machine": {"type": "dict", "required": True},
}


class KubeletConfig:
    """Refuses a configuration that a kubelet would refuse or ignore."""

    module = "kubelet_config_host"
    spec: Options = MappingProxyType({**KUBELET, **OWN})
    viewed: Sequence[str] = ("derived", "machine", "join")

    def prepare(self, options: Options) -> Result:
        """Check the content. Raises Refused with all `faults`."""
        machine = Machine(**{**options["machine"], "gpus": tuple(options["machine"]["gpus"])})
        where, other = variable(options, "config"), variable(options, "main_config")
        wrong = faults(options["config"], machine, where, other, site_joins=options["join"] == "site")
        wrong += changed_reservations(options["config"], options["derived"], where)
        if found := [str(fault) for fault in wrong]:
            raise Refused("\n".join(["the kubelet's configuration is refused:", *found]), faults=found)
        return {key: value for key, value in options.items() if key not in OWN}

    def predicts(self, options: Options) -> bool:
        """The host needs nothing else from the controller."""
        return False

    def provide(self, options: Options, predicted: Result) -> contextlib.AbstractContextManager[Result]:
        """Nothing."""
        return contextlib.nullcontext({})

    def conclude(self, options: Options, predicted: Result, done: Result) -> Result:
        """The host's result."""
        return done
