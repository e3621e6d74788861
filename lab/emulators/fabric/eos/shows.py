# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the general show commands print. Layouts and JSON keys: EOS 4.31 and 4.35 captures, eAPI responses.

Commands without documented JSON answer as EOS answers for unconverted ones.
"""

from __future__ import annotations

import time
from typing import Any

from lab.emulators.fabric.cli.shows import Answer, Question, Shows, columns, host, section
from lab.emulators.fabric.eos.sessions import MAX_COMPLETED, MAX_PENDING
from lab.emulators.fabric.eos.tree import EOS, GRAMMAR
from lab.emulators.fabric.switch import Refused

VERSION = "4.35.0F"
MODELS = {"xgs": "DCS-7060X6-64PE", "jericho": "DCS-7280CR3-32P4"}
HARDWARE: dict[str, Any] = {
    "mfgName": "Arista",
    "hardwareRevision": "11.03",
    "serialNumber": "JPA24010001",
    "hwMacAddress": "00:1c:73:00:00:01",
    "systemMacAddress": "00:1c:73:00:00:01",
    "configMacAddress": "00:00:00:00:00:00",
    "version": VERSION,
    "architecture": "x86_64",
    "internalVersion": f"{VERSION}-44178984.4350F",
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
    data = {
        **HARDWARE,
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
