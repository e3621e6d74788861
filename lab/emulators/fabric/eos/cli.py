# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of EOS: privileged mode, configuration sessions, saving, and general show commands, from any mode.

Layouts and JSON keys: EOS 4.31 and 4.35 captures, eAPI responses. Commands without documented JSON answer as EOS
answers for unconverted ones.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from lab.emulators.fabric.cli import terminal
from lab.emulators.fabric.cli.shows import Answer, Question, Shows, columns, host, section
from lab.emulators.fabric.cli.tree import header
from lab.emulators.fabric.eos import sessions, tree
from lab.emulators.fabric.eos.ports import COUNTERS, PORTS, QOS
from lab.emulators.fabric.eos.sessions import MAX_COMPLETED, MAX_PENDING
from lab.emulators.fabric.eos.tree import EOS, GRAMMAR, prompt_part
from lab.emulators.fabric.releases import release
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

VERSION = "4.35.0F"
MODELS = {"xgs": "DCS-7060X6-64PE", "jericho": "DCS-7280CR3-32P4"}
HARDWARE: dict[str, Any] = {
    "mfgName": "Arista",
    "hardwareRevision": "11.03",
    "serialNumber": "JPA24010001",
    "hwMacAddress": "00:1c:73:00:00:01",
    "systemMacAddress": "00:1c:73:00:00:01",
    "configMacAddress": "00:00:00:00:00:00",
    "architecture": "x86_64",
    "internalBuildId": "30c6e6a1-8cf5-4ad4-a1a1-0d0c53e3a1f4",
    "imageFormatVersion": "3.0",
    "imageOptimization": "Default",
    "isIntlVersion": False,
    "memTotal": 16326392,
    "memFree": 12051592,
}
NEVER = 0.0
RUNNING = "system:/running-config"


def version(question: Question) -> Answer:
    """`show version`: what the hardware is, hence which queues it has."""
    booted = question.state.get("booted", question.now)
    runs = release(question.state, VERSION)
    data = {
        **HARDWARE,
        "version": runs,
        "internalVersion": f"{runs}-44178984.4350F",
        "modelName": MODELS[question.state["platform"]],
        "bootupTimestamp": booted,
        "uptime": round(question.now - booted, 2),
    }
    minutes = int(data["uptime"]) // 60
    lines = [
        f"Arista {data['modelName']}",
        f"Hardware version: {data['hardwareRevision']}",
        f"Serial number: {data['serialNumber']}",
        "Hardware MAC address: 001c.7300.0001",
        "System MAC address: 001c.7300.0001",
        "",
        f"Software image version: {data['version']}",
        f"Architecture: {data['architecture']}",
        f"Internal build version: {data['internalVersion']}",
        f"Internal build ID: {data['internalBuildId']}",
        f"Image format version: {data['imageFormatVersion']}",
        f"Image optimization: {data['imageOptimization']}",
        "",
        f"Uptime: {minutes // 60} hours and {minutes % 60} minutes",
        f"Total memory: {data['memTotal']} kB",
        f"Free memory: {data['memFree']} kB",
        "",
    ]
    return Answer("\n".join(lines), data)


def hostname(question: Question) -> Answer:
    """`show hostname`."""
    name = host(question.state)
    return Answer(f"Hostname: {name}\nFQDN:     {name}", {"hostname": name, "fqdn": name})


def running(question: Question) -> Answer:
    """`show running-config`, whole or by section."""
    return _configuration(question, "running")


def startup(question: Question) -> Answer:
    """`show startup-config`."""
    return _configuration(question, "startup")


def _configuration(question: Question, which: str) -> Answer:
    config = question.state[which]
    if config is None:
        return Answer("")
    lines = EOS.render(config)
    wanted = question.args.get("section") or (f"^interface {p}$" if (p := question.args.get("port")) else "")
    if wanted:
        return Answer("\n".join(section(GRAMMAR, lines, wanted)))
    device = f"! device: {host(question.state)} ({MODELS[question.state['platform']]}, EOS-{VERSION})"
    return Answer("\n".join([f"! Command: show {which}-config", device, "!", *lines, "!", "end"]))


def session_config(question: Question) -> Answer:
    """`show session-config [named NAME] [diffs]`."""
    name = question.args.get("name") or question.session
    found = question.state["candidates"].get(name)
    if not found:
        raise Refused(f"% Session {name} not found" if name else "% Not in a configuration session")
    if "diffs" in question.args:
        return Answer(EOS.diff(question.state["running"], found["tree"], RUNNING, f"session:/{name}-session-config"))
    return Answer("\n".join([f"! Command: show session-configuration named {name}", "!", *EOS.render(found["tree"])]))


def session_list(question: Question) -> Answer:
    """`show configuration sessions [detail]`; EOS 4.35 shows a session whose timer runs as committed."""
    rows = [["", "Name", "State", "User", "Terminal", "Completed Time", "Committed By"]]
    for name, found in sorted(question.state["candidates"].items()):
        mine = "*" if name == question.session else ""
        vty, user = next(iter(found["instances"].items()), ("", ""))
        state = "committed" if found["state"] == "pendingCommitTimer" else found["state"]
        rows.append([mine, name, state, user, vty, _stamp(found["completed"]), found["user"]])
    head = [
        f"Maximum number of completed sessions: {MAX_COMPLETED}",
        f"Maximum number of pending sessions: {MAX_PENDING}",
    ]
    if "detail" in question.args:
        head += ["Merge on commit is disabled", "Autosave to startup-config on commit is disabled", ""]
        if pending := question.state["pending"]:
            left = max(0, int(pending["deadline"] - question.now))
            head.append(f"Session with pending commit timer: {pending['name']}")
            head += [f"Time left until commit timer expiry: in {left // 3600}:{left // 60 % 60:02}:{left % 60:02}", ""]
    else:
        head.append("")
        rows = [row[:5] for row in rows]
    return Answer("\n".join([*head, *columns(rows)]), _session_data(question))


def _session_data(question: Question) -> dict[str, Any]:
    pending = question.state["pending"]
    data: dict[str, Any] = {}
    for name, found in question.state["candidates"].items():
        instances = {
            vty.removeprefix("vty"): {"user": user, "terminal": vty, "currentTerminal": vty == question.vty}
            for vty, user in found["instances"].items()
        }
        data[name] = {"state": found["state"], "commitUser": found["user"], "description": "", "instances": instances}
        if found["completed"] != NEVER:
            data[name]["completedTime"] = found["completed"]
        if pending and pending["name"] == name:
            data[name]["commitBy"] = pending["deadline"]
    return {
        "maxSavedSessions": MAX_COMPLETED,
        "maxOpenSessions": MAX_PENDING,
        "mergeOnCommit": False,
        "saveToStartupConfigOnCommit": False,
        "sessions": data,
    }


def _stamp(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(when)) if when != NEVER else ""


GENERAL: Shows = {
    "show version": version,
    "show hostname": hostname,
    "show running-config [section <section:rest>]": running,
    "show running-config interfaces <port:port>": running,
    "show startup-config": startup,
    "show session-config [named <name:word>] [<diffs:diffs>]": session_config,
    "show session-configuration named <name:word> [<diffs:diffs>]": session_config,
    "show configuration sessions [<detail:detail>]": session_list,
}


NO_PORT = "! Interface does not exist. The configuration will not take effect until the module is inserted."
UNCONVERTED = '% This is an unconverted command\n{\n    "errors": [\n        "This is an unconverted command"\n    ]\n}'


class Cli(terminal.Cli):
    """The command line as one user sees it."""

    language = tree.EOS
    shows: ClassVar = {**GENERAL, **PORTS, **QOS, **COUNTERS}
    closed = ("configure", "no configure", "copy", "write", "show running", "show startup", "show session-")
    not_privileged = f"{GRAMMAR.invalid} (privileged mode required)"
    unconverted = UNCONVERTED
    saved = "Copy completed successfully."
    link = staticmethod(sessions.link)
    rows = 24

    def place(self) -> str:
        """Return the modes; a session shows with the first six characters of its name."""
        parts = ["config"] + ([f"s-{self.session[:6]}"] if self.session else [])
        return "-".join([*parts, *(prompt_part(header(key)) for key, _ in self.path)])

    def candidate(self, state: State) -> Node:
        """Return the session's configuration, unless another user has ended the session."""
        found = state["candidates"].get(self.session)
        if not found or found["state"] != "pending":
            raise Refused(f"% Session {self.session} not found")
        return found["tree"]

    def applied(self, state: State, target: Node, text: str, opened: str) -> str:
        """Warn of a port that doesn't exist, and of a watchdog that polls too seldom."""
        port = header(self.path[-1][0]).removeprefix("interface ") if self.path else ""
        if opened == "if" and text.startswith("int") and port.startswith("Ethernet") and port not in state["ports"]:
            return NO_PORT
        return tree.warning(target) if "watchdog default" in text else ""

    def left(self, state: State) -> None:
        """Leave the session pending."""
        sessions.leave(state, self.vty)

    def terminal(self, state: State, found: Match, now: float) -> str:
        """Set the terminal up; EOS says what it did."""
        super().terminal(state, found, now)
        if "columns" in found.args:
            return f"Width set to {found.args['columns']} columns."
        return "Pagination disabled." if found.args.get("rows") == "0" else ""

    def _enter(self, state: State, found: Match, now: float) -> str:
        name = found.args.get("name") or f"sess-{int(now)}-{self.vty.removeprefix('vty')}"
        sessions.enter(state, name, self.vty, self.user)
        self.configure(name)
        return ""

    def _commit(self, state: State, found: Match, now: float) -> str:
        hours, minutes, seconds = (int(part) for part in found.args.get("time", "0:0:0").split(":"))
        timer = hours * 3600 + minutes * 60 + seconds
        sessions.commit(state, found.args.get("name") or self.session, self.user, now, timer)
        self.to_exec()
        return ""

    def _abort(self, state: State, found: Match, now: float) -> str:
        sessions.abort(state, found.args.get("name") or self.session, now)
        self.to_exec()
        return ""


Cli.commands = {
    "enable": Cli.enable,
    "disable": Cli.enable,
    "exit": Cli.exit,
    "logout": Cli.exit,
    "quit": Cli.exit,
    "terminal length <rows:int:0-32767>": Cli.terminal,
    "terminal width <columns:int:10-32767>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "no terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    "configure session [<name:word>]": Cli._enter,
    "configure session <name:word> commit [timer <time:hms>]": Cli._commit,
    "configure session <name:word> abort": Cli._abort,
    "no configure session <name:word>": Cli._abort,
    "write [memory]": Cli.save,
    "copy running-config startup-config": Cli.save,
}
Cli.in_config = {"end": Cli.exit}
Cli.in_session = {
    "commit [timer <time:hms>]": Cli._commit,
    "abort": Cli._abort,
}
