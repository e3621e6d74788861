# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The health of this node's hardware: drawbridge-node-health look|prolog|epilog|report|facts.

`look` prints one finding a line and changes nothing in Slurm; it is a part of slurm-health. The exit code is 1 with
findings, and 2 if it can't look. `prolog` and `epilog` run before and after a job, and look at what files show. With a
finding they write it into this node's record in Slurm, and `prolog` drains the node and ends with code 3. `report`
reads findings from its input and writes them into the record. `facts` prints all that the checks read, for a vendor.

Slurm's controller decides about drains. A node that has no answer for ten minutes drains itself.
"""

import argparse
import json
import os
import sys
import syslog
import time
from pathlib import Path

# A prolog should not compile its modules each time. Compiled code beside them would be a change for host_files. What
# another user compiled is not run.
CACHE = Path("/run/drawbridge/compiled")
OWN = not CACHE.exists() or CACHE.stat().st_uid == os.geteuid()
sys.pycache_prefix, sys.dont_write_bytecode = (str(CACHE) if OWN else None), not OWN
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-node-health"))

# these imports need the lines above
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.health.finding import Finding  # noqa: E402
from drawbridge.health.node.look import Look  # noqa: E402
from drawbridge.health.node.look_io import Host, facts, findings  # noqa: E402
from drawbridge.health.node.node_settings import FILE, NodeSettings  # noqa: E402
from drawbridge.health.node.own_record import after_job, before_job  # noqa: E402
from drawbridge.health.node.report_io import Record, report  # noqa: E402
from drawbridge.health.rows import EPILOG, HEALTH, PLACES, PROLOG  # noqa: E402

RUN = Path("/run/drawbridge/health")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOOK_S, JOB_S, REPORT_S = 35.0, 5.0, 16.0
"""Of all checks at intervals, to which slurm-health gives 40 s; before or after a job, which waits; and of a report."""
CHECKS = 0.6
"""Share of the checks in the time of a job. The rest is for Slurm's answers."""
REFUSED, UNABLE = 3, 2
"""No job may start; it can't look. Python itself ends with 1 when a program breaks, which must refuse no job."""


class Node:
    """This node, with a time at which all must have ended."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Raises OSError or ValueError without settings."""
        self._options, self._begun = options, time.monotonic()
        self.settings = NodeSettings.parse((Path(options.root) / FILE.lstrip("/")).read_text())
        # /run is empty after a boot
        options.run.mkdir(mode=0o755, parents=True, exist_ok=True)

    def host(self, usual_s: float, share: float = 1.0) -> Host:
        """Programs and files until so many seconds after the begin, or until a share of them."""
        given = self._options
        return Host(given.root, given.run, given.path, self._begun + (given.limit or usual_s) * share)

    def look(self, where: str) -> tuple[tuple[Finding, ...], Look]:
        """The findings that count, and the look with its warnings."""
        host = self.host(self.settings.limit_s or LOOK_S) if where == HEALTH else self.host(JOB_S, CHECKS)
        return findings(self.settings, where, host, self._options.root)

    def record(self, usual_s: float) -> Record:
        """Its record in Slurm."""
        return Record(self.settings.node.name, self.host(usual_s))

    @property
    def stamp(self) -> Path:
        """The file that keeps since when a report is unanswered."""
        return self._options.run / "unanswered"


def look(node: Node, where: str, as_json: bool) -> int:
    """Print the findings."""
    found, first = node.look(where)
    if as_json:
        told = [{"text": it.text, "fault": it.fault, "ends": it.ends} for it in found]
        print(json.dumps({"findings": told, "warnings": [*first.warnings]}))
    else:
        print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


def of_job(node: Node, where: str) -> int:
    """Look before or after a job. Without a finding Slurm is not asked."""
    found, first = node.look(where)
    if first.unjudged:
        syslog.syslog(syslog.LOG_ERR, f"{where}: not read in time, so not judged: {', '.join(sorted(first.unjudged))}")
    if not found:
        return 0
    record, said = node.record(JOB_S), "; ".join(map(str, found))
    try:
        seen = record.read()
        change = after_job(seen, found) if where == EPILOG else before_job(seen, found, node.settings.report_only)
    except DeviceError as err:
        syslog.syslog(syslog.LOG_ERR, f"{where}: {said}; Slurm has not answered ({err})")
        return REFUSED if where == PROLOG else 0
    try:
        record.change(change)
    except DeviceError as err:
        syslog.syslog(syslog.LOG_ERR, f"{where}: not reported to Slurm ({err})")
    syslog.syslog(syslog.LOG_ERR, f"{where}: {change.says}")
    return REFUSED if change.refuses else 0


def tell(node: Node, returns: bool) -> int:
    """Report the findings of the input, one a line."""
    found = [Finding.parse(line) for line in sys.stdin.read().splitlines() if line.strip()]
    change = report(node.record(REPORT_S), found, node.settings.report_only, returns, node.stamp)
    if change.says:
        syslog.syslog(syslog.LOG_INFO, change.says)
    return 0


def main() -> int:
    """Call the verb."""
    parser = argparse.ArgumentParser(prog="drawbridge-node-health")
    parser.add_argument("verb", choices=["look", PROLOG, EPILOG, "report", "facts"])
    parser.add_argument("--where", choices=PLACES, default=HEALTH, help="with look: the checks of this place")
    parser.add_argument("--json", action="store_true", help="with look: findings and warnings as JSON")
    parser.add_argument("--returns", action="store_true", help="with report: resume the node if Slurm had lost it")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of all that the verb does")
    parser.add_argument("--root", default="/", metavar="DIRECTORY", help="prefix of all files")
    parser.add_argument("--run", type=Path, default=RUN, metavar="DIRECTORY", help="where locks are")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="where to find programs")
    options = parser.parse_args()
    syslog.openlog("drawbridge-node-health", syslog.LOG_PID, syslog.LOG_DAEMON)
    try:
        node = Node(options)
        if options.verb == "look":
            return look(node, options.where, options.json)
        if options.verb == "facts":
            print(facts(node.settings, node.host(LOOK_S)))
            return 0
        return tell(node, options.returns) if options.verb == "report" else of_job(node, options.verb)
    except (OSError, ValueError, DeviceError) as err:
        syslog.syslog(syslog.LOG_ERR, f"{options.verb}: {err}")
        print(err, file=sys.stderr)
        return UNABLE


if __name__ == "__main__":
    sys.exit(main())
