# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One SSH session with a switch: strict host keys, every command bounded, every refusal an error.

Only the controller imports this: it needs netmiko.
"""

from __future__ import annotations

import contextlib
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.converge import DeviceError
from ..core.libraries import library
from .login import Login
from .nos.dialect import SLOW, Dialect

if TYPE_CHECKING:
    import netmiko
    from netmiko import exceptions
    from paramiko import ssh_exception
else:
    netmiko, exceptions = library("netmiko"), library("netmiko.exceptions")
    ssh_exception = library("paramiko.ssh_exception")

# Python prints errors of a library that no handler takes. Paramiko's come with a traceback, and this file reports them.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

CONNECT_S = 60.0
"""For each stage of the login: a busy switch needs long for the keys, however short the limit of an answer."""

KEEPALIVE_S = 5
"""Between messages that need no answer. Behind a jump host, paramiko notices a dead connection only by a write."""


class Refused(DeviceError):
    """The switch refused a line and did nothing of it. The session stays usable."""


def broken() -> tuple[type[Exception], ...]:
    """Errors of a session that must be given up."""
    return (exceptions.NetmikoBaseException, ssh_exception.SSHException, OSError, EOFError)


WHOLE = " | cat"
"""Behind a line of a shell: what it prints goes to no terminal, so that no pager comes in between."""


class NetmikoSession:
    """Logged in, ready for the dialect's lines, without paging and log lines."""

    def __init__(self, login: Login, dialect: Dialect, timeout_s: float) -> None:
        """Connect. Raises DeviceError."""
        self._name, self._timeout_s = login.name, timeout_s
        self._refusal = re.compile(dialect.refusal, re.MULTILINE)
        self._slow, self._paged = re.compile(dialect.slow), re.compile(dialect.paged)
        if login.key_file and not Path(login.key_file).is_file():
            raise DeviceError(
                f"{login.name} can't be reached: there is no key {login.key_file}; correct ansible_ssh_private_key_file"
            )
        try:
            self._connection = _attentive(netmiko.ssh_dispatcher(dialect.device_type))(**_parameters(login, dialect))
        except broken() as err:
            raise DeviceError(_why_no_session(login, err)) from err
        self._connection.read_timeout_override = timeout_s
        base = self._connection.base_prompt
        self._connection.base_prompt = _lasting(base)
        self._prompt = rf"(?m)^{_any_time(base)}{dialect.prompt}"
        try:
            if dialect.enables:
                self._connection.enable()
            for line in dialect.opening:
                self.send(line)
        except broken() as err:
            self.close()
            raise DeviceError(
                f"{login.name} lets {login.user} in, but not into privileged mode: {_first(err)}"
            ) from err

    def send(self, line: str) -> str:
        """Type a line and return the answer without echo and prompt. Raises Refused, DeviceError."""
        limit = self._timeout_s * (SLOW if self._slow.match(line) else 1)
        # netmiko prefers the override, which bounds what it asks by itself
        self._connection.read_timeout_override = limit
        typed = f"{line}{WHOLE}" if self._paged.match(line) else line
        try:
            answer = self._connection.send_command(typed, expect_string=self._prompt, read_timeout=limit)
        except exceptions.ReadTimeout as err:
            raise DeviceError(f"{self._name} gave no answer within {limit:g} s to {line!r}") from err
        except EOFError as err:
            raise DeviceError(f"{self._name} dropped the connection at {line!r}") from err
        except broken() as err:
            raise DeviceError(f"{self._name} dropped the connection at {line!r}: {_first(err)}") from err
        text = str(answer)
        if refusal := self._refusal.search(text):
            raise Refused(f"{self._name} refused {line!r}: {' '.join(refusal[0].split())}", stdout=text)
        return text

    def close(self) -> None:
        """Close the connection without a logout, which could hang in some states of the terminal."""
        with contextlib.suppress(*broken()):
            self._connection.paramiko_cleanup()


_CLOCK = re.compile(r"\d+(?::\d\d)+(?:\.\d+)?")


def _any_time(prompt: str) -> str:
    """A regular expression of the prompt, whose clock shows another time in each one."""
    return r"\d+(?::\d\d)+(?:\.\d+)?".join(map(re.escape, _CLOCK.split(prompt)))


def _lasting(prompt: str) -> str:
    """The longest part of the prompt beside its clock, which netmiko waits for."""
    return max(_CLOCK.split(prompt), key=len).strip()


def _attentive(system: type[netmiko.BaseConnection]) -> type[netmiko.BaseConnection]:
    """Netmiko's class, but its reads fail once the channel is closed. Netmiko itself waits until the limit."""

    class Attentive(system):
        def read_channel(self) -> str:
            """Read what has arrived. Raises EOFError if there is nothing, and nothing can follow."""
            channel: Any = self.remote_conn
            # looked up before the read, so that text that arrives in between is not lost
            closed = channel.closed or channel.eof_received
            text = super().read_channel()
            if closed and not text:
                raise EOFError("the switch closed the connection")
            return text

    return Attentive


def _parameters(login: Login, dialect: Dialect) -> dict[str, Any]:
    """Netmiko's arguments. Unknown host keys are refused; the agent's keys count only if no file is named."""
    return {
        "device_type": dialect.device_type,
        "host": login.host,
        "port": login.port,
        "username": login.user,
        "password": login.password or None,
        "use_keys": bool(login.key_file),
        "key_file": login.key_file or None,
        "allow_agent": not (login.key_file or login.password),
        "ssh_strict": True,
        "system_host_keys": not login.known_hosts_file,
        "alt_host_keys": bool(login.known_hosts_file),
        "alt_key_file": login.known_hosts_file,
        "ssh_config_file": login.ssh_config_file or None,
        "keepalive": KEEPALIVE_S,
        "conn_timeout": CONNECT_S,
        "banner_timeout": CONNECT_S,
        "auth_timeout": CONNECT_S,
        "read_timeout_override": CONNECT_S,
    }


def _why_no_session(login: Login, err: BaseException) -> str:
    where = f"{login.name} ({login.host} port {login.port})"
    if "known_hosts" in str(err) or "Host key" in str(err):
        known = login.known_hosts_file or "~/.ssh/known_hosts"
        return f"{where} has a host key that {known} does not hold; compare it on the switch and add it there"
    if isinstance(err, exceptions.NetmikoAuthenticationException):
        offered = "the password" if login.password else f"the key {login.key_file or 'of the agent'}"
        return f"{where} does not let {login.user} in with {offered}; set ansible_user and ansible_ssh_private_key_file"
    return f"{where} can't be reached by SSH: {_first(err)}"


def _first(err: BaseException) -> str:
    lines = [line.strip() for line in str(err).splitlines() if line.strip()]
    return (lines[0] if lines else type(err).__name__).rstrip(".:")
