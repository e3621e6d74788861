# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against the SSH server of an emulated switch."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.action import host_key
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_key.io import Offer

from tests.unit.emulated_switch import Leaf


def run(leaf: Leaf, file: Path, fingerprint: str, check: bool = False) -> Any:
    task_vars = {
        "inventory_hostname": "leaf1",
        "ansible_host": leaf.login.host,
        "ansible_port": leaf.login.port,
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={file}",
    }
    task = SimpleNamespace(
        args={"fingerprint": fingerprint}, check_mode=check, async_val=0, diff=True, action="host_key", _role=None
    )
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir="none is made"))
    parts: list[Any] = [task, connection, None, DataLoader(), Templar(variables=task_vars), None]
    return host_key.ActionModule(*parts).run(task_vars=task_vars)


def test_the_key_with_the_fingerprint_is_trusted_once(leaf: Leaf, tmp_path: Path) -> None:
    (key, *_) = Offer(Command(30), leaf.login.host, leaf.login.port).read()
    file = tmp_path / "known_hosts"
    predicted = run(leaf, file, key.fingerprint, check=True)
    assert (predicted["changed"], file.exists()) == (True, False)
    done = run(leaf, file, key.fingerprint)
    assert done["steps"] == predicted["steps"] == [f"trust the host key {key}"]
    assert f"[leaf1]:{leaf.login.port}" in file.read_text()
    assert run(leaf, file, key.fingerprint)["changed"] is False


def test_another_fingerprint_is_refused_and_nothing_written(leaf: Leaf, tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    refused = run(leaf, file, "SHA256:else")
    assert refused["failed"]
    assert refused["msg"].startswith("leaf1 offers ssh-")
    assert not file.exists()
