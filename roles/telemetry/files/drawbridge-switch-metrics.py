# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read counters of switches for Prometheus: drawbridge-switch-metrics run|look|check.

It runs as root on one host, with an account that may only read, and changes nothing on switches. `run` reads all
switches in turns and writes a file for node_exporter's textfile collector. `look` reads one switch once and prints its
metrics. `check` reads the configuration alone. It ends with 0 if the reading was complete, with 1 if not, and with 2 if
the program can't work.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-switch-metrics"))

# these imports need the line above
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.core.printable import printable  # noqa: E402
from drawbridge.fabric.login import Login  # noqa: E402
from drawbridge.fabric.model import SwitchProfile  # noqa: E402
from drawbridge.fabric.nos.dialect import Dialect  # noqa: E402
from drawbridge.fabric.nos.eos.text import DIALECT as EOS  # noqa: E402
from drawbridge.fabric.nos.junos.text import DIALECT as JUNOS  # noqa: E402
from drawbridge.fabric.nos.nvue.text import DIALECT as NVUE  # noqa: E402
from drawbridge.fabric.nos.nxos.text import DIALECT as NXOS  # noqa: E402
from drawbridge.fabric.nos.os10.text import DIALECT as OS10  # noqa: E402
from drawbridge.fabric.nos.sonic.text import DIALECT as SONIC  # noqa: E402
from drawbridge.fabric.nos.state import StateRead  # noqa: E402
from drawbridge.fabric.state_io import read_state  # noqa: E402
from drawbridge.telemetry import exposition, exposition_io  # noqa: E402
from drawbridge.telemetry.families import SWITCHES  # noqa: E402
from drawbridge.telemetry.switch_reader_io import LoginRefused, Reader, one_reading  # noqa: E402
from drawbridge.telemetry.switch_samples import Ends, judged, samples  # noqa: E402

PLACE = Path("/etc/drawbridge/switch-metrics.json")
COMPLETE, INCOMPLETE, UNABLE = 0, 1, 2
ANSWER_S = 60.0
"""For the answer to one line. Some systems collect the counters of all ports only when they are shown."""
NETMIKO = (4, 3)
"""The oldest release that was tried: that of Ubuntu 24.04. Debian 13 has 4.5."""
PRIVATE = 0o077
"""Rights that no other user may have on the password and on the key."""


def counting(dialect: Dialect, **changes: Any) -> Dialect:
    """The system's commands for counters, in the mode in which a login begins: a read-only account has no other."""

    def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
        """Without neighbours, and without what the release lacks."""
        return tuple(it for it in dialect.state_reads(profile, release) if it.gives and not it.lacking)

    return replace(dialect, enables=False, opening=(), state_reads=reads, **changes)


DIALECTS: Mapping[str, Dialect] = {
    "eos": counting(EOS),
    "junos": counting(JUNOS),
    # Debian's netmiko has no cumulus_linux, which differs in how it saves
    "nvue": counting(NVUE, device_type="linux"),
    "nxos": counting(NXOS),
    "os10": counting(OS10),
    "sonic": counting(SONIC),
}


@dataclass(frozen=True)
class Target:
    """One switch: how to log in, what to read, and who is behind its ports."""

    login: Login
    profile: SwitchProfile
    ends: Ends


@dataclass(frozen=True)
class Settings:
    """What the role wrote."""

    seconds: float
    parallel: int
    secret: str
    """The file with the password or the key."""
    targets: dict[str, Target]

    def login(self, name: str) -> Login:
        """How to log in now: a password may have changed. Raises OSError, and ValueError for one that is unusable."""
        found = self.targets[name].login
        return found if found.key_file else replace(found, password=password_of(self.secret))


def say(line: str) -> None:
    """A line for the journal."""
    print(printable(line), file=sys.stderr, flush=True)


def private(path: str) -> str:
    """The text of a file that only root may read. Raises OSError, and ValueError for one that others may read."""
    if Path(path).stat().st_mode & PRIVATE:
        raise ValueError(f"other users can read {path}; run chmod 600 {path}")
    return Path(path).read_text(encoding="utf-8")


def password_of(path: str) -> str:
    """The password in a file. Raises OSError, and ValueError for a file that is empty or that others may read."""
    if not (found := private(path).rstrip("\n")):
        raise ValueError(f"{path} is empty")
    return found


def settings_of(text: str) -> Settings:
    """Read the configuration. Raises OSError, ValueError, LookupError, TypeError, AttributeError."""
    raw = json.loads(text)
    if key := raw.get("key_file", ""):
        private(key)
    else:
        password_of(raw["password_file"])
    targets: dict[str, Target] = {}
    for name, it in raw["switches"].items():
        address, port = raw["addresses"].get(name) or name, int(raw["ports"].get(name) or 22)
        login = Login(name, address, port, raw["user"], key, raw["known_hosts"])
        profile = SwitchProfile.from_dict(it["profile"])
        nodes = {port: (node, rail) for port, (node, rail) in it["nodes"].items()}
        targets[name] = Target(login, profile, Ends(nodes, *classes(profile)))
    if not targets:
        raise ValueError("it names no switches")
    return Settings(float(raw["seconds"]), int(raw["parallel"]), key or raw["password_file"], targets)


def classes(profile: SwitchProfile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Priorities of the lossless classes, and of the others that the intent has."""
    lossless = tuple(map(str, profile.lossless))
    storage = [profile.storage.priority] if profile.storage else []
    return lossless, tuple(it for it in map(str, [profile.cnp.priority, *storage]) if it not in lossless)


def reading(settings: Settings, refusal: type) -> Callable[[str], Mapping[str, Any]]:
    """How one switch is read. `refusal` is netmiko's error for a login that the switch refuses."""

    def read(name: str) -> Mapping[str, Any]:
        """One reading, over a session of its own: an open one costs more, because paramiko looks at it all the time."""
        target = settings.targets[name]
        profile = target.profile
        try:
            login = settings.login(name)
        except (OSError, ValueError) as err:
            raise DeviceError(str(err)) from err
        try:
            return read_state(login, DIALECTS[profile.platform], profile, ANSWER_S)
        except DeviceError as err:
            if isinstance(err.__cause__, refusal):
                raise LoginRefused(
                    f"{name} ({login.host} port {login.port}) refuses the login of {login.user} with {settings.secret};"
                    " correct drawbridge_telemetry.switches.user, or this file"
                ) from err
            raise

    return read


def writing(folder: Path) -> Callable[[str], None]:
    """How the file is written. A failure is said, and the next version is tried."""

    def write(content: str) -> None:
        """Replace the file."""
        try:
            exposition_io.write(folder, SWITCHES, content)
        except OSError as err:
            say(f"{folder / SWITCHES} can't be written: {err}")

    return write


def run(settings: Settings, refusal: type, folder: Path) -> int:
    """Read until a signal, and remove the file then: its values would look like new ones."""
    ends = {name: target.ends for name, target in settings.targets.items()}
    reader = Reader(ends, settings.seconds, settings.parallel, reading(settings, refusal), writing(folder), say)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reader.stop())
    say(f"reads {len(ends)} switches every {settings.seconds:g} s, at most {settings.parallel} at a time")
    try:
        reader.run()
    finally:
        (folder / SWITCHES).unlink(missing_ok=True)
    return COMPLETE


def look(settings: Settings, refusal: type, name: str) -> int:
    """Read one switch and print its metrics."""
    ends = settings.targets[name].ends
    found = one_reading(name, reading(settings, refusal))
    verdict = judged(name, found, ends)
    print(exposition.text(samples(name, found, ends, verdict.complete, found.at if verdict.complete else None)), end="")
    say(verdict.said)
    return COMPLETE if verdict.complete else INCOMPLETE


def refused_by_netmiko() -> type:
    """Its error for a login that a switch refuses. Raises DeviceError if this Python has no netmiko that fits."""
    where = "install it there (Debian: python3-netmiko), or name another Python in drawbridge_telemetry.switches.python"
    try:
        import netmiko
    except ImportError as err:
        raise DeviceError(f"{sys.executable} can't import netmiko ({err}); {where}") from err
    if tuple(map(int, netmiko.__version__.split(".")[:2])) < NETMIKO:
        wanted = ".".join(map(str, NETMIKO))
        raise DeviceError(f"netmiko of {sys.executable} is {netmiko.__version__}, and {wanted} is needed; {where}")
    return netmiko.NetmikoAuthenticationException


def main() -> int:
    """Read the options and the configuration, and work."""
    parser = argparse.ArgumentParser(prog="drawbridge-switch-metrics", description="Read counters of switches.")
    parser.add_argument("verb", choices=["run", "look", "check"])
    parser.add_argument("switch", nargs="?", default="", help="the one to look at")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="FILE", help="configuration")
    parser.add_argument("--metrics", type=Path, default=exposition.METRICS, metavar="FOLDER", help="of the file")
    options = parser.parse_args()
    try:
        settings = settings_of(options.place.read_text(encoding="utf-8"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        say(f"{options.place} has no settings of the reader, run telemetry.yml: {type(err).__name__}: {err}")
        return UNABLE
    if options.verb == "look" and options.switch not in settings.targets:
        say(f"{options.place} has no switch {options.switch!r}; it has {', '.join(settings.targets)}")
        return UNABLE
    try:
        refusal = refused_by_netmiko()
    except DeviceError as err:
        say(str(err))
        return UNABLE
    if options.verb == "check":
        return COMPLETE
    if options.verb == "look":
        return look(settings, refusal, options.switch)
    return run(settings, refusal, options.metrics)


if __name__ == "__main__":
    sys.exit(main())
