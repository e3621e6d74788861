# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""With OpenSSH's own programs on files, and keys that sshd would offer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_key.io import (
    KnownHosts,
    Offer,
    entry_of,
    keys_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_key.plan import (
    Key,
    KnownKeys,
    plan,
)

from tests.unit.module_utils.answers import Answers

RUN = Command(10)


def made(path: Path) -> Key:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    kind, blob = path.with_suffix(".pub").read_text().split()[:2]
    return Key(kind, blob)


@pytest.mark.parametrize("hashed", [False, True])
def test_a_hosts_keys_are_replaced_and_other_hosts_keep_theirs(tmp_path: Path, hashed: bool) -> None:
    old, new, other = (made(tmp_path / name) for name in ("old", "new", "other"))
    path = tmp_path / "known_hosts"
    path.write_text(
        f"gpu04 {old.kind} {old.blob}\n192.0.2.24 {old.kind} {old.blob}\ngpu05,192.0.2.25 {other.kind} {other.blob}\n"
    )
    if hashed:
        subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(path)], check=True, capture_output=True)
    device, want = KnownHosts(RUN, path, ["gpu04", "192.0.2.24"]), KnownKeys(frozenset({new}))
    assert device.read() == KnownKeys(frozenset({old}))
    device.apply(plan(device.read(), want))
    assert device.read() == want
    assert KnownHosts(RUN, path, ["gpu05"]).read() == KnownKeys(frozenset({other}))
    assert path.read_text().endswith(f"gpu04,192.0.2.24 {new.kind} {new.blob}\n")


def test_a_missing_file_is_made(tmp_path: Path) -> None:
    new = made(tmp_path / "new")
    device = KnownHosts(RUN, tmp_path / "ssh" / "known_hosts", ["[gpu04]:2222"])
    assert device.read() == KnownKeys(frozenset())
    device.apply(plan(device.read(), KnownKeys(frozenset({new}))))
    assert device.read() == KnownKeys(frozenset({new}))


def test_a_revoked_key_is_none() -> None:
    assert keys_of("# Host gpu04 found: line 1\n@revoked gpu04 ssh-rsa AAAA\ngpu04 ssh-rsa BBBB\n") == [
        Key("ssh-rsa", "BBBB")
    ]


def test_ssh_keyscan_uses_the_hosts_port() -> None:
    run = Answers({"ssh-keyscan": "[gpu04]:2222 ssh-ed25519 AAAA\n"})
    assert Offer(run, "gpu04", 2222).read() == [Key("ssh-ed25519", "AAAA")]
    assert run.asked == ["ssh-keyscan -T 20 -p 2222 gpu04"]
    assert (entry_of("gpu04", 22), entry_of("gpu04", 2222)) == ("gpu04", "[gpu04]:2222")
