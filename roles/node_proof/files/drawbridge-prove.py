# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure nodes, rails, fabric and file systems, and give passports: drawbridge-prove run|tend|look|learn|key.

It runs as root on Slurm's controller. `run` ends with 0 if all nodes are proved, with 1 if not, and with 2 if it could
not measure. Progress is on the standard error, the result as JSON on the standard output. `tend` is for a timer: it
ends what a killed proof left, and starts a patrol when one is due.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
SOURCES = Path(__file__).parents[1] / "lib/drawbridge-prove"
sys.path.insert(0, str(SOURCES))

# these imports need the line above
from drawbridge.core import hostlist  # noqa: E402
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.core.release import RELEASE  # noqa: E402
from drawbridge.health.controller.proved_io import ReportingCluster  # noqa: E402
from drawbridge.proof.checks.judge import learn, limit_lines  # noqa: E402
from drawbridge.proof.passport_io import sign  # noqa: E402
from drawbridge.proof.result import Result  # noqa: E402
from drawbridge.proof.run import worker_io  # noqa: E402, F401  # nodes run it
from drawbridge.proof.run.cluster import Interrupted, why_not  # noqa: E402
from drawbridge.proof.run.patrol import chosen  # noqa: E402
from drawbridge.proof.run.prove import Proof  # noqa: E402
from drawbridge.proof.run.settings import Settings  # noqa: E402
from drawbridge.proof.run.store_io import Busy, StoreFiles  # noqa: E402
from drawbridge.telemetry import exposition, exposition_io  # noqa: E402
from drawbridge.telemetry.families import PROOF  # noqa: E402

PLACE = Path("/etc/drawbridge/proof.json")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 60.0
WAIT_S = 60.0
"""Wait of a person's run for the end of `tend`."""
PASSED, FAILED, UNABLE = 0, 1, 2
METRICS = exposition.METRICS
PASSED_AT = "drawbridge_proof_passed_timestamp_seconds"


def now() -> datetime:
    """The present time."""
    return datetime.now(timezone.utc)


def say(line: str) -> None:
    """Progress for the person who waits."""
    print(f"{now():%H:%M:%S} {line}", file=sys.stderr, flush=True)


def names_of(settings: Settings, given: str) -> list[str]:
    """The wanted nodes, or all. Raises DeviceError for a name that the intent lacks."""
    try:
        names = hostlist.expand(given) if given else list(settings.placed)
    except ValueError as err:
        raise DeviceError(f"--nodes {given} is no hostlist: {err}") from err
    if unknown := [name for name in names if name not in settings.placed]:
        raise DeviceError(f"{hostlist.compress(unknown)} is no node of {PLACE}; run playbooks/prove.yml to renew it")
    return names


def show(result: Result, store: StoreFiles) -> int:
    """Print a result with the one before it."""
    before = store.earlier(result.started)
    print(json.dumps({"result": result.to_json(), "before": before.to_json() if before else None}))
    return PASSED if result.passed else FAILED


def learn_from(store: StoreFiles) -> int:
    """Print limits that the last proof's own measures suggest, as lines for the intent. Raises DeviceError."""
    last = store.earlier("9")
    if last is None:
        raise DeviceError("there is no complete proof to learn from; run drawbridge-prove run first")
    print("\n".join(limit_lines(learn(last.measures, {it.name: it.node_class for it in last.nodes}))))
    return PASSED


def publish(store: StoreFiles) -> None:
    """Write the metrics of proofs for node_exporter. A failure is said and fails nothing else."""
    times = {name: datetime.fromisoformat(ended).timestamp() for name, ended in store.proved.items()}
    samples = (exposition.Sample(PASSED_AT, {"node": name}, time) for name, time in sorted(times.items()))
    try:
        exposition_io.write(METRICS, PROOF, exposition.text(samples))
    except OSError as err:
        say(f"no metrics: {err}")


def work(options: argparse.Namespace, settings: Settings, store: StoreFiles, scratch: Path) -> int:
    """One verb. Raises DeviceError."""
    patrol = options.verb == "tend"
    cluster = ReportingCluster(Command(LIMIT_S), say, settings.partition, SOURCES, scratch, patrol)
    keys = (lambda text: sign(text, str(store.key)), store.public_key)
    proof = Proof(settings, cluster, store, *keys, now, RELEASE, say)
    if options.verb == "key":
        print(store.public_key(), end="")
        return PASSED
    if options.verb == "learn":
        return learn_from(store)
    names = names_of(settings, options.nodes)
    if options.verb == "look":
        states = cluster.states(names)
        print(json.dumps({name: why_not(states.get(name)) for name in names}))
        return PASSED
    with store.locked(0 if patrol else options.wait):
        if patrol:
            proof.clean()
            proof = replace(proof, records=StoreFiles(name="patrol"))
            proof.clean()
            due = store.patrol_is_due(now())
            names = chosen(names, cluster.states(names), store.proved, settings.per_hour) if due else []
            if not names:
                publish(store)
                return PASSED
        code = show(proof.run(names, patrol), store)
        publish(store)
        return code


def main() -> int:
    """Read the options and the configuration, and work."""
    purpose = "Measure nodes, rails, fabric and file systems, and give passports."
    parser = argparse.ArgumentParser(prog="drawbridge-prove", description=purpose)
    parser.add_argument("verb", choices=["run", "tend", "look", "learn", "key"])
    parser.add_argument("--nodes", default="", metavar="HOSTLIST", help="nodes, such as gpu[01-04] (default: all)")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="FILE", help="configuration")
    parser.add_argument("--wait", type=float, default=WAIT_S, metavar="SECONDS", help="for the end of another proof")
    options = parser.parse_args()
    os.environ["PATH"] = PATH
    try:
        settings = Settings.parse(options.place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        print(f"{options.place} has no settings of a proof, run prove.yml: {err}", file=sys.stderr)
        return UNABLE
    try:
        with tempfile.TemporaryDirectory(prefix="drawbridge-prove-") as scratch:
            return work(options, settings, StoreFiles(), Path(scratch))
    except (Busy, Interrupted) as err:
        print(err, file=sys.stderr)
        return PASSED if options.verb == "tend" else UNABLE
    except DeviceError as err:
        print(err, file=sys.stderr)
    return UNABLE


if __name__ == "__main__":
    sys.exit(main())
