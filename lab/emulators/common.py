# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What every emulated device shares: state on disk, a journal of calls, a fault switchboard and a clock.

A device is a directory. Several processes, of several users, work on it at the same time:

    `state.json`     the device's memory; replaced as a whole, under a lock.
    `journal.jsonl`  one JSON object a line, one line a call; only ever appended.
    `faults.json`    a list of {tool, match, effect, times}; the switchboard that `lab fault` writes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

REFUSE = "refuse"
"""Fail with the real tool's text and exit code."""
LIE = "lie"
"""Exit 0 as if all were well; nothing was done."""
HANG = "hang"
"""Never answer."""
DIE = "die"
"""Apply half of the change, then end silently."""
DRIFT = "drift"
"""Do the work; then change it again, as another user would."""
EFFECTS = (REFUSE, LIE, HANG, DIE, DRIFT)
READ_EFFECTS = (REFUSE, HANG)
"""The only effects that mean something for a call that changes nothing."""


class Device:
    """One emulated device: everything it remembers lives in one directory.

    Any user of the host may write the directory and its files: real tools answer any user, and the journal must know of
    every call. The directory is not sticky: Linux forbids opening other users' files with O_CREAT in sticky directories
    (fs.protected_regular).
    """

    def __init__(self, directory: Path, clock: Path | None = None) -> None:
        """Take a directory, made when first needed, and the file that holds the clock's offset in seconds."""
        self.directory = directory
        self.clock = clock

    @contextlib.contextmanager
    def state(self, default: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Give the state as a dict to read or change; keep others out until the block ends.

        A new device starts with `default`. Changes reach the disk in one step at the end of the block, and not at
        all when the block raises. A dict that didn't change is not written.
        """
        with self._locked("state"):
            text = self._read("state.json")
            state = json.loads(text) if text else json.loads(json.dumps(default or {}))
            yield state
            changed = json.dumps(state)  # without line breaks, which only a slow encoder in Python makes
            if changed != text:
                self._replace("state.json", changed)

    def journal(self, **fields: object) -> None:
        """Append one line: time (seconds since the epoch, lab clock), pid and uid of the caller, and `fields`."""
        line = json.dumps({"time": self.now(), "pid": os.getpid(), "uid": os.getuid(), **fields}) + "\n"
        self._make()
        handle = _open_shared(self.directory / "journal.jsonl", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def calls(self) -> list[dict[str, Any]]:
        """Return the journal, oldest call first."""
        return [json.loads(line) for line in self._read("journal.jsonl").splitlines()]

    def add_fault(self, tool: str, effect: str, match: str = "", times: int | None = 1) -> None:
        """Arm a fault for calls of `tool` whose line has `match` (a regular expression); None times: until cleared."""
        if effect not in EFFECTS:
            raise ValueError(f"effect is {effect!r}, but a fault can only be one of: {', '.join(EFFECTS)}")
        re.compile(match)
        with self._locked("faults"):
            faults = [*self._faults(), {"tool": tool, "match": match, "effect": effect, "times": times}]
            self._replace("faults.json", json.dumps(faults, indent=1))

    def clear_faults(self) -> None:
        """Disarm everything."""
        with self._locked("faults"):
            self._replace("faults.json", "[]")

    def fault(self, tool: str, line: str, among: tuple[str, ...] = EFFECTS) -> str | None:
        """Return the effect of the first armed fault that matches this call, and use it up once; None if there is none.

        `among` names the effects that the caller can act out: others stay armed for a later call.
        """
        if not (self.directory / "faults.json").exists():
            return None
        with self._locked("faults"):
            faults = self._faults()
            for fault in faults:
                times = fault.get("times")
                usable = fault["tool"] == tool and fault["effect"] in among and (times is None or times > 0)
                if usable and re.search(fault.get("match") or "", line):
                    if times is not None:
                        fault["times"] = times - 1
                        self._replace("faults.json", json.dumps([f for f in faults if f.get("times") != 0], indent=1))
                    return fault["effect"]
        return None

    def now(self) -> float:
        """Return seconds since the epoch as the lab sees them: real time plus the offset that `lab clock` wrote."""
        try:
            offset = float(self.clock.read_text() or 0) if self.clock else 0.0
        except FileNotFoundError:
            offset = 0.0
        return time.time() + offset

    def _faults(self) -> list[dict[str, Any]]:
        return json.loads(self._read("faults.json") or "[]")

    def _read(self, name: str) -> str:
        try:
            return (self.directory / name).read_text()
        except FileNotFoundError:
            return ""

    def _replace(self, name: str, text: str) -> None:
        """Put a whole new file in place of the old one, so that no reader and no kill can see half of it."""
        scratch = self.directory / f".{name}.{os.getpid()}"
        scratch.write_text(text)
        scratch.chmod(0o666)
        scratch.replace(self.directory / name)

    def _make(self) -> None:
        if not self.directory.is_dir():
            self.directory.mkdir(parents=True, exist_ok=True)
            self.directory.chmod(0o777)

    @contextlib.contextmanager
    def _locked(self, what: str) -> Iterator[None]:
        """Hold one of the device's locks; the kernel drops it when the process ends, however it ends."""
        self._make()
        handle = _open_shared(self.directory / f".{what}.lock", os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


class Killed(Exception):
    """Raised by a command that acts out `die`, after the half that it did is on disk."""


class Call:
    """One run of an emulated command: `with Call(...)` journals it however it ends, and acts out hang and die.

    `rc` is the exit code to end with; None in the journal means that the call never ended by itself.
    """

    def __init__(self, device: Device, tool: str, argv: list[str]) -> None:
        """Take the device whose journal and faults count, and the command line without the program's name."""
        self.device = device
        self.tool = tool
        self.argv = argv
        self.writes = False
        self.rc: int | None = 0
        self.effect: str | None = None

    def fault(self, *, writes: bool, among: tuple[str, ...] | None = None) -> str | None:
        """Say whether the call asks for a change, and return the effect to act out, if any.

        `among` is what the command can act out; by default everything when it writes, refuse and hang when it reads.
        """
        self.writes = writes
        among = among or (EFFECTS if writes else READ_EFFECTS)
        self.effect = self.device.fault(self.tool, " ".join(self.argv), among)
        if self.effect == HANG:
            self._journal(None)
            hang()
        return self.effect

    def __enter__(self) -> Call:
        """Begin the call."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """Journal the call; an exit by the option parser counts as its exit code."""
        if isinstance(error, Killed):
            self._journal(None)
            die()
        if isinstance(error, SystemExit):
            self.rc = error.code if isinstance(error.code, int) else 0
        self._journal(self.rc if kind in (None, SystemExit) else 1)
        return kind is SystemExit

    def _journal(self, rc: int | None) -> None:
        self.device.journal(tool=self.tool, argv=self.argv, rc=rc, writes=self.writes, fault=self.effect)


PROOF_TOOLS = (
    *("ib_write_bw", "ib_write_lat", "ib_read_lat", "all_reduce_perf", "all_reduce_perf_mpi"),
    *("nvbandwidth", "gemm", "stream"),
)
NFS_TOOLS = ("mount.nfs", "mount.nfs4", "nfsstat", "stat")
FAMILIES = {
    **{"mlnx_qos": "mlnx_qos", "nvidia-smi": "nvidia_smi", "mlxconfig": "mlxconfig", "ethtool": "ethtool"},
    **{"dcb": "dcb", "openibd": "openibd"},
    **dict.fromkeys(("setpci", "lspci"), "pciutils"),
    **{"lldpctl": "lldpctl", "dmesg": "dmesg"},
    **dict.fromkeys(("ip", "networkctl", "nmcli"), "net"),
    **dict.fromkeys(NFS_TOOLS, "nfs"),
    "findmnt": "findmnt",
    **dict.fromkeys(PROOF_TOOLS, "proof"),
}
"""Families by command; every mm* command is one of gpfs."""
SUBSYSTEMS = {
    **dict.fromkeys(("mlnx_qos", "dcb", "mlxconfig", "ethtool", "net", "pciutils", "openibd"), "nic"),
    **dict.fromkeys(("nvidia_smi", "lldpctl", "dmesg"), "nodes"),
    **dict.fromkeys(("gpfs", "nfs", "findmnt"), "storage"),
    "proof": "proof",
}
"""The folder beside this file that holds a family's module."""


def family(command: str) -> str | None:
    """Return the tool family of an emulated command: it names the directory of the host's device."""
    return "gpfs" if command.startswith("mm") else FAMILIES.get(command)


def host_device(family: str) -> Device:
    """Return this host's device of a tool family, e.g. `mlnx_qos`: its state belongs to this host alone."""
    root = Path(os.environ.get("LAB_DEVICE_DIR", "/var/lib/lab"))
    return Device(root / family, shared_directory() / "clock")


def shared_device(family: str) -> Device:
    """Return a device that all hosts of the lab share, e.g. `gpfs`, the emulated cluster's configuration."""
    return Device(shared_directory() / family, shared_directory() / "clock")


def shared_directory() -> Path:
    """Return the directory that every host of the lab sees, with the clock in it."""
    return Path(os.environ.get("LAB_SHARED_DIR", "/var/lib/lab-shared"))


def sysfs() -> Path:
    """Return the root of the kernel's device tree; tests put their own there."""
    return Path(os.environ.get("LAB_SYSFS", "/sys"))


def procfs() -> Path:
    """Return the root of the process tree; tests put their own there."""
    return Path(os.environ.get("LAB_PROCFS", "/proc"))


def boot_id() -> str:
    """Return what tells one boot of this host from the next."""
    return (procfs() / "sys/kernel/random/boot_id").read_text().strip()


def in_pairs(words: Sequence[str]) -> dict[str, str]:
    """Return arguments such as `rx 1024 tx 512` by key. Raises ValueError if the last has no value.

    Unit tests run the tools of nodes in their own Python, which may be 3.9: its zip has no `strict`.
    """
    if len(words) % 2:
        raise ValueError(f"{words[-1]} has no value")
    return dict(zip(words[::2], words[1::2]))


def hang() -> NoReturn:
    """Block until killed."""
    while True:
        signal.pause()


def die() -> NoReturn:
    """End at once, as a process that was killed does: no message, no clean-up."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL returned")


def _open_shared(path: Path, flags: int) -> int:
    """Open a file for any user's use, making it when it doesn't exist."""
    handle = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o666)
    if os.fstat(handle).st_uid == os.getuid() and os.fstat(handle).st_mode & 0o777 != 0o666:
        os.fchmod(handle, 0o666)
    return handle
