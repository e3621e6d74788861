# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.plan import KubeletState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.text import (
    by_key,
    flag,
    kubeadm_unit,
    render,
)

CONFIG = {"cpuManagerPolicy": "static", "reservedMemory": [{"numaNode": 0, "limits": {"memory": "4Gi"}}]}


def test_keys_come_back_with_foreign_lines_among_them() -> None:
    keys = by_key((*render(CONFIG), "somebody: else", "  - nested"))
    assert keys["cpuManagerPolicy"] == '"static"'
    assert keys["somebody"] == "else"
    assert "  - nested" in keys
    assert not any(key.startswith("#") for key in keys)


def test_the_diff_tells_about_the_daemon() -> None:
    lines = KubeletState(render(CONFIG), enabled=True, running=True, current=False).lines()
    assert lines[-1] == "kubelet.service: enabled, running with older content"


def test_the_last_directory_of_a_command_counts() -> None:
    assert flag(["kubelet", "--config=/x", "--config-dir=/a", "--config_dir", "/b"], "--config-dir") == "/b"
    assert flag(["kubelet", "--config-dir", "/b", "--config-dir=/a"], "--config-dir") == "/a"
    assert flag(["kubelet", "--config=/x"], "--config-dir") == ""


STARTED = ["kubelet", "--kubeconfig=/k", "--config=/c", "--v=2"]


def test_kubeadms_unit_keeps_its_words_and_gets_the_folder() -> None:
    text = kubeadm_unit(STARTED, ["PATH=/bin", "KUBELET_CONFIG_ARGS=--config=/c --v=2"], "/conf.d")
    assert text.splitlines()[1:] == [
        "[Service]",
        'Environment="KUBELET_CONFIG_ARGS=--config=/c --v=2 --config-dir=/conf.d"',
    ]


@pytest.mark.parametrize("environment", [["PATH=/bin"], ["KUBELET_CONFIG_ARGS="], ["KUBELET_CONFIG_ARGS=--config=/d"]])
def test_another_unit_is_left_alone(environment: list[str]) -> None:
    """A variable that the command does not use would have no effect."""
    assert kubeadm_unit(STARTED, environment, "/conf.d") == ""
