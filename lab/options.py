# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of the lab's command."""

from __future__ import annotations

import argparse

DESCRIPTION = """A machine room on this machine: hosts that boot a real systemd and answer real SSH, and
emulated switches. LAB_ID (0 to 99, default 1) picks one of several labs side by side."""


def parser() -> argparse.ArgumentParser:
    """`verb` is the method of Command to call; `changes` tells whether it needs the lab to itself."""
    top = argparse.ArgumentParser(prog="lab", description=DESCRIPTION)
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, text: str, changes: bool) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(changes=changes)
        return added

    up = verb("up", "boot hosts and switches: the named ones, or all but the spares", changes=True)
    up.add_argument("names", nargs="*", metavar="NAME")
    up.add_argument("--kind", action="append", default=[], help="only this kind (gpu, infra, eos, ...); repeatable")
    reset = verb("reset", "give hosts a fresh disk and switches their factory state; names and keys stay", changes=True)
    reset.add_argument("names", nargs="+", metavar="NAME")
    cut = verb("power-cut", "cut the power of hosts or switches; lab up boots them again", changes=True)
    cut.add_argument("names", nargs="+", metavar="NAME")
    verb("down", "end the lab and remove everything that it wrote, whatever state it is in", changes=True)
    verb("status", "tell what runs", changes=False)
    verb("env", 'print shell exports for ssh, ansible and kubectl: eval "$(lab/lab env)"', changes=False)
    ssh = verb("ssh", "open a shell or run a command on a host or switch", changes=False)
    ssh.add_argument("name", metavar="NAME")
    ssh.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    _devices(verb("fault", "make an emulated tool or switch misbehave", changes=False))
    _planted(verb("plant", "plant a hardware fault that measuring tools find", changes=False))
    clock = verb("clock", "move the clock that all emulated devices share", changes=False)
    clock.add_argument("step", metavar="+SECONDS|reset")
    text = "apply manifests as the cluster's administrator; without files the gate's policies for inventories/lab"
    verb("administrator", text, changes=False).add_argument("files", nargs="*", metavar="FILE")
    verb("build", "build what the first `up` would build, image and tools, and start nothing", changes=False)
    needs = verb("requirements", "tell which packages this machine lacks", changes=False)
    needs.add_argument("--install", action="store_true", help="install them")
    return top


def _planted(plant: argparse.ArgumentParser) -> None:
    plant.add_argument("name", nargs="?", metavar="NAME", help="host; a leaf for slow-path")
    plant.add_argument("kind", nargs="?", metavar="KIND", help="slow-cable, throttled-gpu, ...; lab/README.md has all")
    plant.add_argument("words", nargs="*", metavar="WORD", help="where and how much, such as rail3 60")
    plant.add_argument("--clear", action="store_true", help="repair all that was planted")


def _devices(fault: argparse.ArgumentParser) -> None:
    fault.add_argument("name", nargs="?", metavar="NAME", help="host or switch")
    fault.add_argument("tool", nargs="?", metavar="TOOL", help="mlnx_qos, mmmount, eos, nvue, sonic, nxos, ...")
    fault.add_argument("effect", nargs="?", metavar="EFFECT", help="refuse or hang; a change also: lie, die, drift")
    fault.add_argument("--match", default="", help="only calls whose line has this regular expression")
    fault.add_argument("--times", type=int, default=1, help="how many calls; 0 means all (default: 1)")
    fault.add_argument("--clear", action="store_true", help="disarm all faults of all devices")
