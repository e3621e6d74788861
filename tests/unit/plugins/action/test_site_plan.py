# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.site_plan import short, specification
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.play_tasks import plain


def task(action: str) -> Any:
    return cast(Any, SimpleNamespace(action=action, name="Do it"))


def test_modules_are_known_by_their_last_word() -> None:
    assert short(task("drawbridge.drawbridge.mlnx_qos")) == "mlnx_qos"


def test_a_module_that_no_plan_can_show_is_refused() -> None:
    """Rather than left out of a plan that says it has everything."""
    with pytest.raises(DeviceError, match=r"Do it: the plan can't show the output of module ansible.builtin.command"):
        short(task("ansible.builtin.command"))


@pytest.mark.parametrize(
    ("module", "option", "default"),
    [
        ("kube_packages", "path", "/etc/apt/sources.list.d/drawbridge-kubernetes.sources"),
        ("kubelet_config", "path", "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"),
        ("kube_member", "program", "/usr/bin/kubelet"),
    ],
)
def test_defaults_are_the_modules_own_or_of_its_half_on_the_host(module: str, option: str, default: str) -> None:
    assert specification(module)[option]["default"] == default


def test_lazy_values_become_plain() -> None:
    class Lazy(list[Any]):
        """As Ansible's, whose items are made when they are looked at."""

        def __iter__(self) -> Any:
            return iter(["made"])

    assert plain({1: Lazy(["{{ raw }}"]), "x": ({"y": None},)}) == {"1": ["made"], "x": [{"y": None}]}
