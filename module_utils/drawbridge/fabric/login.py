# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How to log in to a switch, from the variables with which Ansible itself reaches hosts."""

from __future__ import annotations

import getpass
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.converge import DeviceError

_SSH_OPTION = re.compile(r"([A-Za-z]+)[= ]\s*(.*)")
_JUMPS = ("proxycommand", "proxyjump")


@dataclass(frozen=True)
class Login:
    """Address, user, and key of a switch. Empty texts mean the defaults of the user's own ssh."""

    name: str
    host: str
    port: int = 22
    user: str = ""
    key_file: str = ""
    known_hosts_file: str = ""
    ssh_config_file: str = ""
    password: str = field(default="", repr=False)


def from_variables(name: str, variables: Mapping[str, Any]) -> Login:
    """Read ansible_host, _port, _user, _password, _ssh_private_key_file, _ssh_common_args and _ssh_extra_args.

    Of the ssh arguments, -F, -i, -J and -o UserKnownHostsFile count here. A jump host must be in the file of -F. It is
    refused elsewhere, because the connection would not use it. Raises DeviceError.
    """

    def text(key: str) -> str:
        return str(variables.get(key) or "")

    arguments = shlex.split(f"{text('ansible_ssh_common_args')} {text('ansible_ssh_extra_args')}")
    options = _ssh_options(arguments)
    if any(jump in options for jump in _JUMPS):
        raise DeviceError(
            f"ansible_ssh_common_args of {name} has a jump host, which Drawbridge takes from a file only;"
            " write it into an ssh_config(5) and set ansible_ssh_common_args: -F FILE"
        )
    known_hosts = options.get("userknownhostsfile", "").split()
    return Login(
        name=name,
        host=text("ansible_host") or name,
        port=int(text("ansible_port") or 22),
        user=text("ansible_user") or getpass.getuser(),
        key_file=_path(text("ansible_ssh_private_key_file") or options.get("identityfile", "")),
        known_hosts_file=_path(known_hosts[0] if known_hosts else ""),
        ssh_config_file=_path(options.get("configfile", "")),
        password=text("ansible_password") or text("ansible_ssh_pass"),
    )


def _ssh_options(arguments: list[str]) -> dict[str, str]:
    """Options by their ssh_config names in lower case; as in ssh, the first of a name counts."""
    letters = {"-F": "configfile", "-i": "identityfile", "-J": "proxyjump"}
    options: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        if word[:2] in letters:
            options.setdefault(letters[word[:2]], word[2:] or next(words, ""))
        elif word[:2] == "-o" and (match := _SSH_OPTION.fullmatch(word[2:] or next(words, ""))):
            options.setdefault(match[1].lower(), match[2])
    return options


def _path(text: str) -> str:
    return str(Path(text).expanduser()) if text else ""
