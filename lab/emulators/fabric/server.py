# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch's SSH server: keys only, one terminal per channel, and the clock that runs timed commits out."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncssh

from lab.emulators import common
from lab.emulators.fabric.effects import LEAVE, REBOOT, SLOW, SYSLOG

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.emulators.fabric.switch import EmulatedSwitch, Shell

TICK_SECONDS = 0.25
SLOW_SECONDS = 0.03
NEWLINE = re.compile(r"\r\n|\r|\n")
ECHO = {"\b": "\b \b", "\x7f": "\b \b", "\r": "\r\n"}


@dataclass(frozen=True)
class Keys:
    """Who the switch is, and who may log in: paths of a private host key and of an authorized_keys file."""

    host: Path
    authorized: Path


class _Login(asyncssh.SSHServer):
    """Keys are the only way in, for the users that the configuration names."""

    def __init__(
        self, switch: EmulatedSwitch, authorized: Path, connections: set[asyncssh.SSHServerConnection]
    ) -> None:
        self._switch = switch
        self._authorized = str(authorized)
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        if username in self._switch.users():
            self._connection.set_authorized_keys(self._authorized)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return False


class Terminal:
    """One channel: echoes typed characters, runs whole lines, prompts again."""

    def __init__(self, process: asyncssh.SSHServerProcess[str], switch: EmulatedSwitch, vty: str) -> None:
        """Log a user in on a terminal line."""
        self._process = process
        self._switch = switch
        user = str(process.get_extra_info("username"))
        self._cli: Shell = switch.cli(user, vty, once=bool(process.command))
        self._echoes = process.term_type is not None
        self._typed = ""
        self._after_return = False

    async def run(self) -> None:
        """Serve the channel until either side leaves."""
        peer = self._process.get_extra_info("peername") or ("",)
        self._switch.logged_in(self._cli, str(peer[0]))
        try:
            if command := self._process.command:
                await self._answer(command, self._switch.fault(command))
            else:
                self._prompt()
                await self._converse()
        except (BrokenPipeError, asyncssh.Error):
            pass
        finally:
            self._switch.logged_out(self._cli)
            self._process.exit(0)

    async def _converse(self) -> None:
        while not self._cli.over:
            try:
                text = await self._process.stdin.read(4096)
            except (asyncssh.TerminalSizeChanged, asyncssh.BreakReceived, asyncssh.SignalReceived):
                continue
            if not text:
                return
            await self._type(text)

    async def _type(self, text: str) -> None:
        """Take what arrived: whole lines are run, the rest waits for its end."""
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        self._after_return = text.endswith("\r")
        *lines, rest = NEWLINE.split(text)
        for line in lines:
            if not self._cli.over:
                await self._enter(line)
        if not self._cli.over:
            await self._echo(rest)

    async def _enter(self, typed: str) -> None:
        """Run one line, with the fault that it meets."""
        effect = self._switch.fault(_edit(self._typed + typed))
        await self._echo(f"{typed}\r", SLOW_SECONDS if effect == SLOW else 0.0)
        line, self._typed = self._typed, ""
        await self._answer(line, effect)
        if not self._cli.over:
            self._prompt()
        self._cli.over |= effect == LEAVE

    async def _answer(self, line: str, effect: str | None) -> None:
        """Run a line and show its outcome; hang or drop the connection when its fault says so."""
        if effect == common.HANG:
            await self._hang()
            return
        shown = self._switch.execute(self._cli, line, effect)
        if effect in (common.DIE, REBOOT):
            self._cli.over = True
            self._process.channel.get_connection().abort()
            return
        self._write(shown)
        if effect == SYSLOG and self._cli.monitor:
            self._write(self._switch.log_line(self._cli))

    async def _echo(self, typed: str, pause: float = 0.0) -> None:
        """Show the typed text, at once or with a pause after each character; `\\r` ends the line."""
        self._typed = _edit(self._typed + typed)
        for part in typed if pause else [typed]:
            if self._echoes:
                self._process.stdout.write("".join(ECHO.get(character, _edit(character)) for character in part))
            await asyncio.sleep(pause)

    async def _hang(self) -> None:
        """Answer nothing more until the user gives up."""
        self._cli.over = True
        await self._process.channel.wait_closed()

    def _prompt(self) -> None:
        self._process.stdout.write(self._switch.prompt(self._cli))

    def _write(self, text: str) -> None:
        if text:
            self._process.stdout.write(text.replace("\n", "\r\n") + "\r\n")


def _edit(typed: str) -> str:
    """Apply erasures, and drop what a terminal doesn't type."""
    kept: list[str] = []
    for character in typed:
        if character in "\b\x7f":
            del kept[-1:]
        elif character.isprintable():
            kept.append(character)
    return "".join(kept)


@contextlib.asynccontextmanager
async def serve(switch: EmulatedSwitch, address: str, port: int, keys: Keys) -> AsyncIterator[int]:
    """Listen until the block ends; give the port. Port 0 takes a free one."""
    lines = itertools.count(3)
    connections: set[asyncssh.SSHServerConnection] = set()

    async def terminal(process: asyncssh.SSHServerProcess[str]) -> None:
        await Terminal(process, switch, f"vty{next(lines)}").run()

    server = await asyncssh.create_server(
        lambda: _Login(switch, keys.authorized, connections),
        address,
        port,
        server_host_keys=[str(keys.host)],
        process_factory=terminal,
        line_editor=False,
        encoding="utf-8",
        allow_scp=False,
    )
    ticking = asyncio.create_task(_tick(switch))
    try:
        yield server.get_port()
    finally:
        ticking.cancel()
        server.close()
        for connection in list(connections):
            connection.abort()
            await connection.wait_closed()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking


async def _tick(switch: EmulatedSwitch) -> None:
    while True:
        switch.tick()
        await asyncio.sleep(TICK_SECONDS)
