# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SSH identities: one user key per lab, one host key per host and switch, and the files by which clients check them."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lab.hosts.paths import Paths
from lab.hosts.site import Site


def make(path: Path, comment: str) -> None:
    """Write an ed25519 key pair to `path` and `path`.pub, unless it is there; never a private half alone."""
    if path.exists():
        return
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.pub").write_text(f"{public.decode()} {comment}\n")
    partial = path.with_name(f".{path.name}")
    partial.touch(mode=0o600)
    partial.write_bytes(private)
    partial.rename(path)


def prepare(site: Site, paths: Paths) -> None:
    """Make all keys of the lab, then known_hosts and ssh_config for its clients."""
    make(paths.user_key, f"lab{paths.lab_id}")
    for name in site.addresses():
        make(paths.host_key(name), name)
    publics = {name: paths.host_key(name).with_name(f"{name}.pub").read_text() for name in site.addresses()}
    paths.known_hosts.write_text(known_hosts(site, publics))
    paths.ssh_config.write_text(client_config(site, paths))


def known_hosts(site: Site, publics: dict[str, str]) -> str:
    """One line a host and switch, valid for its name and its address (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""
    return "".join(f"{name},{ip} {' '.join(publics[name].split()[:2])}\n" for name, ip in site.addresses().items())


def client_config(site: Site, paths: Paths) -> str:
    """ssh_config(5): names to addresses, the lab's key, and strict host key checking.

    Commands for a host share a connection, whose making costs more than most of them. It outlives a minute in which the
    machine stands still; see `hang_up` for a host that is gone.
    """
    entries = [f"Host {name} {ip}\n  HostName {ip}\n" for name, ip in site.addresses().items()]
    switches = " ".join(f"{name} {site.ip(switch.address)}" for name, switch in site.switches.items())
    return "".join(
        [
            *entries,
            f"Host {switches}\n  User admin\n  ControlMaster no\n" if switches else "",
            "Host *\n  User root\n",
            f"  IdentityFile {paths.user_key}\n  IdentitiesOnly yes\n",
            f"  UserKnownHostsFile {paths.known_hosts}\n  GlobalKnownHostsFile /dev/null\n",
            "  StrictHostKeyChecking yes\n",
            f"  ControlMaster auto\n  ControlPath {paths.state}/%r@%n\n  ControlPersist 20\n",
            "  ServerAliveInterval 1\n  ServerAliveCountMax 60\n",
        ]
    )


def hang_up(paths: Paths, *names: str) -> None:
    """End the connections to these names and addresses that commands share: what has no power says no goodbye."""
    for master in (path for name in names for path in paths.state.glob(f"*@{name}")):
        with contextlib.suppress(subprocess.TimeoutExpired):
            command = ["ssh", "-F", "none", "-O", "exit", "-o", f"ControlPath={master}", "any"]
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=10)
