# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the two ways to a host, ssh and netmiko: both note the requested host, and neither connects."""

from __future__ import annotations

from pathlib import Path

SSH = """#!/bin/sh
echo "ssh $@" >> {log}
exit 255
"""

NETMIKO = '''
"""A package that shadows the real one."""
from netmiko.exceptions import NetmikoTimeoutException


class BaseConnection:
    """Notes its host."""

    def __init__(self, **parameters):
        with open({log!r}, "a") as log:
            log.write(f"netmiko {{parameters['host']}}\\n")
        raise NetmikoTimeoutException("nothing is there")


def ssh_dispatcher(device_type):
    return BaseConnection
'''

EXCEPTIONS = """
class NetmikoBaseException(Exception):
    pass


class NetmikoTimeoutException(NetmikoBaseException):
    pass


class NetmikoAuthenticationException(NetmikoBaseException):
    pass


class ReadTimeout(NetmikoBaseException):
    pass
"""


class Recorder:
    """The stand-ins in a directory, and the requests that they noted."""

    def __init__(self, root: Path) -> None:
        self._log = root / "asked"
        ssh, package = root / "ssh", root / "packages/netmiko"
        ssh.write_text(SSH.format(log=self._log))
        ssh.chmod(0o755)
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(NETMIKO.format(log=str(self._log)))
        (package / "exceptions.py").write_text(EXCEPTIONS)
        self.environment = {"ANSIBLE_SSH_EXECUTABLE": str(ssh), "PYTHONPATH": str(package.parent)}
        """What puts them in the place of the real ones."""

    @property
    def asked(self) -> list[str]:
        """A line for each connection that Ansible requested."""
        return self._log.read_text().splitlines() if self._log.exists() else []
