# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.login import (
    Login,
    from_variables,
)


def test_the_variables_of_ansible_are_enough() -> None:
    login = from_variables(
        "leaf1",
        {
            "ansible_host": "10.0.0.41",
            "ansible_port": 2222,
            "ansible_user": "admin",
            "ansible_ssh_private_key_file": "~/key",
            "ansible_ssh_common_args": "-o UserKnownHostsFile=/site/known_hosts -o IdentitiesOnly=yes",
            "ansible_ssh_extra_args": None,
        },
    )
    assert login == Login("leaf1", "10.0.0.41", 2222, "admin", str(Path.home() / "key"), "/site/known_hosts")


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ("-F /site/ssh_config", "ssh_config_file", "/site/ssh_config"),
        ("-F/site/ssh_config", "ssh_config_file", "/site/ssh_config"),
        ("-i /site/key -i /other", "key_file", "/site/key"),
        ("-oUserKnownHostsFile=/a", "known_hosts_file", "/a"),
        ("-o 'UserKnownHostsFile /a /b'", "known_hosts_file", "/a"),
        ("-o userknownhostsfile=/a -o UserKnownHostsFile=/b", "known_hosts_file", "/a"),
        ("-o StrictHostKeyChecking=no -C", "known_hosts_file", ""),
    ],
)
def test_ssh_arguments_that_count(arguments: str, field: str, value: str) -> None:
    assert getattr(from_variables("leaf1", {"ansible_ssh_common_args": arguments}), field) == value


@pytest.mark.parametrize("arguments", ["-J bastion", "-Jbastion", "-o ProxyJump=b", '-o ProxyCommand="ssh -W %h:%p b"'])
def test_a_jump_host_is_refused_where_it_would_be_ignored(arguments: str) -> None:
    with pytest.raises(DeviceError, match="set ansible_ssh_common_args: -F FILE"):
        from_variables("leaf1", {"ansible_ssh_common_args": arguments})


def test_who_names_no_user_is_himself_as_with_ssh() -> None:
    assert from_variables("leaf1", {}).user == getpass.getuser()


def test_a_name_is_an_address_and_a_password_is_never_shown() -> None:
    login = from_variables("leaf1", {"ansible_password": "hush"})
    assert (login.host, login.password) == ("leaf1", "hush")
    assert "hush" not in repr(login)
