# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Decide about findings of nodes, on Slurm's controller: drawbridge-health tend|show|close|lift|bundle|forget.

It runs as root. `tend` is for a timer. It reads all nodes once, and drains those with findings as far as breakers
allow. It lifts its own drains when findings are gone, and orders one reboot of a node where the site allows it. A
silent slurmctld changes nothing. `show` explains findings and breakers, and `close` closes breakers. `lift` says that
a repair is done. `bundle` makes a file for the vendor. `forget` takes all reports out of Slurm's records, for a site
that leaves health.
"""

import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path

# of the unit, for root alone; beside the modules host_files would see bytecode as a change
CACHE = os.environ.get("RUNTIME_DIRECTORY")
sys.pycache_prefix, sys.dont_write_bytecode = CACHE, not CACHE
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-health-controller"))

# these imports need the line above
from drawbridge.core import hostlist  # noqa: E402
from drawbridge.core.command import Command, tool  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.core.printable import printable  # noqa: E402
from drawbridge.health.controller import bundle, bundle_io, hand_io, history, show, tend_io  # noqa: E402
from drawbridge.health.controller.control_io import LIMIT_S  # noqa: E402
from drawbridge.health.controller.settings import Settings  # noqa: E402
from drawbridge.health.controller.store_io import FOLDER, Busy, Store  # noqa: E402
from drawbridge.health.decide import Seen  # noqa: E402
from drawbridge.telemetry import exposition, slurm_text  # noqa: E402

PLACE = Path("/etc/drawbridge/health-controller.json")
STORE, METRICS, RESULTS = FOLDER, exposition.METRICS, bundle_io.RESULTS
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
WAIT_S = 60.0
"""Wait of a person's command for the end of a look."""
DONE, REFUSED, UNABLE = 0, 1, 2
CODES = "exit codes of show: 0 no finding, 1 findings, 2 a person must act, 3 Slurm does not answer"
PROVE = "ansible-playbook playbooks/prove.yml -e 'prove_nodes={name}'"
FACTS = "to add texts of the node: ssh {0} drawbridge-node-health facts | drawbridge-health bundle {0} --node-facts -"


def say(line: str) -> None:
    """A line for the log, or for the person who waits."""
    print(printable(line), file=sys.stderr, flush=True)


def tend(place: tend_io.Place) -> int:
    """One look. Another one that still runs does its work."""
    try:
        with place.store.locked():
            tend_io.tend(place)
    except Busy:
        return DONE
    return DONE


def rows(place: tend_io.Place, given: str) -> tuple[list[show.Shown], tend_io.Look]:
    """These nodes, or all with findings. Raises DeviceError or ValueError."""
    look = tend_io.looked(place)
    known = {it.name: it for it in look.nodes}
    names = hostlist.expand(given) if given else [it.name for it in show.by_findings(look.nodes, look.others)]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"Slurm or the intent does not have {hostlist.in_order(unknown)}")
    entries = place.store.entries()
    return [shown(place, look, known[name], entries) for name in names], look


def shown(place: tend_io.Place, look: tend_io.Look, node: Seen, entries: list[history.Entry]) -> show.Shown:
    """One node with its findings."""
    name, settings = node.name, place.settings
    found = show.findings(node, look.others.get(name, ()))
    past = tuple(history.of_node(entries, name, look.now))
    return show.Shown(node, found, past, settings.health, name in settings.proofs, PROVE.format(name=name))


def explain(place: tend_io.Place, options: argparse.Namespace) -> int:
    """Print findings and breakers."""
    try:
        found, look = rows(place, ",".join(options.nodes))
    except (DeviceError, ValueError) as err:
        say(str(err))
        return show.UNKNOWN
    opened = look.notes.opened
    lines = [json.dumps(show.document(found, opened), indent=1)] if options.json else show.lines(found, opened)
    print(printable("\n".join(lines)))
    return show.level(found, opened)


def facts_of(given: str) -> str:
    """Texts of the node, from a file or the standard input. Raises OSError."""
    if given == "-":
        return sys.stdin.buffer.read().decode(errors="replace")
    return Path(given).read_text(encoding="utf-8", errors="replace") if given else ""


def hand_over(place: tend_io.Place, options: argparse.Namespace) -> int:
    """Make the file for the vendor."""
    name = options.node
    found, look = rows(place, name)
    if len(found) != 1:
        raise ValueError(f"{name} is not one node")
    slurm = place.run([tool("scontrol"), "show", "node", name]).out
    facts = facts_of(options.node_facts)
    day = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(look.now))
    folder = f"drawbridge-{name}-{day}"
    file = options.to or Path(f"{folder}.tar.gz")
    proof = bundle_io.last_proof(name, RESULTS)
    lines = show.lines(found, look.notes.opened)
    bundle_io.write(file, folder, bundle.texts(name, slurm, lines, place.store.entries(), proof, facts), look.now)
    print(printable(f"{file} has the hand-over of {name}"))
    if not facts:
        print(printable(FACTS.format(name)))
    return DONE


def work(place: tend_io.Place, options: argparse.Namespace) -> int:
    """One verb. Raises DeviceError, ValueError or OSError."""
    if options.verb == "tend":
        return tend(place)
    if options.verb == "show":
        return explain(place, options)
    if options.verb == "bundle":
        return hand_over(place, options)
    with place.store.locked(WAIT_S):
        said = by_hand(place, options)
    print(printable("\n".join(said)))
    return DONE


def by_hand(place: tend_io.Place, options: argparse.Namespace) -> list[str]:
    """A verb that changes what the next look sees. Returns sentences; raises DeviceError or ValueError."""
    if options.verb == "close":
        return hand_io.close(place, options.names)
    return hand_io.lift(place, options.node) if options.verb == "lift" else hand_io.forget(place)


def parser() -> argparse.ArgumentParser:
    """All verbs."""
    made = argparse.ArgumentParser(prog="drawbridge-health", description="Decide about findings of nodes.")
    made.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for each call of scontrol")
    verbs = made.add_subparsers(dest="verb", required=True)
    verbs.add_parser("tend", help="read all nodes once, and drain, lift or reboot: the timer's verb")
    about = "findings and breakers, with history and next step"
    one = verbs.add_parser("show", help=about, description=about, epilog=CODES)
    one.add_argument("nodes", nargs="*", metavar="NODES", help="a hostlist (default: all nodes with findings)")
    one.add_argument("--json", action="store_true", help="print JSON")
    one = verbs.add_parser("close", help="close breakers, and print what then happens")
    one.add_argument("names", nargs="*", metavar="NAME", help="site, or the name of a unit (default: all open ones)")
    one = verbs.add_parser("lift", help="say that a node is repaired, which ends its drain")
    one.add_argument("node", metavar="NODE")
    verbs.add_parser("forget", help="take all reports out of Slurm's records, for a site that leaves health")
    one = verbs.add_parser("bundle", help="make a file for the vendor: history, record of Slurm, last proof")
    one.add_argument("node", metavar="NODE")
    one.add_argument("--to", type=Path, metavar="FILE", help="the new file (default: in this folder)")
    one.add_argument("--node-facts", default="", metavar="FILE", help="texts of the node; - for the standard input")
    return made


def main() -> int:
    """Read the options and the configuration, and work."""
    options = parser().parse_args()
    os.environ.update(slurm_text.ENVIRONMENT, PATH=PATH)
    gc.disable()  # it lives for seconds, and makes many objects
    try:
        settings = Settings.parse(PLACE.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        say(f"{PLACE} has no settings of drawbridge-health, run slurm.yml: {err}")
        return UNABLE
    place = tend_io.Place(settings, Store(STORE), Command(options.limit), say, PROVE, METRICS)
    try:
        return work(place, options)
    except ValueError as err:
        say(str(err))
        return REFUSED
    except (DeviceError, OSError) as err:
        say(str(err))
    return UNABLE


if __name__ == "__main__":
    sys.exit(main())
