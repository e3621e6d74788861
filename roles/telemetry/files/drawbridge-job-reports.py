# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a line of numbers and hints into AdminComment of each job that has ended: drawbridge-job-reports.

It runs each minute on Slurm's controller, as Slurm's user or root: accounting lets operators alone change the comment.
The exit code is 1 if Slurm or Prometheus did not answer; the next run tries again.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-job-reports"))

# these imports need the line above
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.core.hostlist import expand  # noqa: E402
from drawbridge.nodes.scontrol import fields  # noqa: E402
from drawbridge.telemetry.job.due import LOOK_BACK_S, MOST_JOBS, Note, due  # noqa: E402
from drawbridge.telemetry.job.lines import Report  # noqa: E402
from drawbridge.telemetry.job.numbers import Numbers  # noqa: E402
from drawbridge.telemetry.job.prometheus_io import Answers, Prometheus, answers  # noqa: E402
from drawbridge.telemetry.job.queries import queries  # noqa: E402
from drawbridge.telemetry.job.report import one_line  # noqa: E402
from drawbridge.telemetry.job.text import TIMES, Job, ended_since, jobs, whole_nodes, written  # noqa: E402

PLACE = Path("/etc/drawbridge/job-reports.json")
NOTE = Path("/var/lib/drawbridge/job-reports/note.json")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 20.0
"""For a command of Slurm."""
QUERY_S = 10.0
ALL_S = 45.0
"""After this time no further report begins, so that a run ends before the next."""
MOST_REFUSED = 3
"""Reports that accounting may refuse, before the run ends."""


class Run:
    """One run of the timer."""

    def __init__(self, prometheus: Prometheus, note: Path, run: Command, now: float) -> None:
        self._prometheus, self._place, self._run, self._now = prometheus, note, run, now
        self._end = time.monotonic() + ALL_S
        self._done: list[Job] = []
        self._faults: list[str] = []
        self.written = 0

    def work(self) -> list[str]:
        """Write the reports that are due. What failed, in sentences."""
        note = Note.read(self._place.read_text(encoding="utf-8") if self._place.is_file() else "", self._now)
        try:
            wanted = due(jobs(self._run(ended_since(LOOK_BACK_S)).out, expand), note, self._now)[:MOST_JOBS]
            shown = self._run(["scontrol", "show", "partition", "-o"]).out.splitlines() if wanted else []
            lines = [fields(line) for line in shown]
            self._write(wanted, {line.get("PartitionName", "") for line in lines if whole_nodes(line)})
        except (DeviceError, ValueError) as err:
            self._faults.append(f"Slurm did not answer: {err}")
        self._keep(note)
        return self._faults

    def _write(self, wanted: list[Job], whole: set[str]) -> None:
        refused = 0
        for job in wanted:
            found = answers(self._prometheus.ask, queries(job, self._now))
            self._faults += [f"job {job.name}: {why}" for why in dict.fromkeys(found.unknown.values())]
            if found.silent or refused >= MOST_REFUSED or time.monotonic() > self._end:
                return
            try:
                self._report(job, found, job.partition in whole)
            except DeviceError as err:
                refused += 1
                self._faults.append(f"job {job.name}: {err}")
                continue
            self._done.append(job)

    def _report(self, job: Job, found: Answers, whole: bool) -> None:
        """Write one. A job of which Prometheus has no samples gets none. Raises DeviceError."""
        line = one_line(Report(job, self._now, Numbers(found.values), found.unknown, whole))
        if line and line != job.comment:
            self._run(written(job, line))
            self.written += 1

    def _keep(self, note: Note) -> None:
        partial = self._place.with_suffix(".partial")
        partial.write_text(note.text(self._done, self._now), encoding="utf-8")
        partial.replace(self._place)


def main() -> int:
    """Read the configuration, and work."""
    parser = argparse.ArgumentParser(prog="drawbridge-job-reports")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="FILE", help="configuration")
    parser.add_argument("--note", type=Path, default=NOTE, metavar="FILE", help="what earlier runs did")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="where to find Slurm's commands")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for a command of Slurm")
    options = parser.parse_args()
    os.environ.update({"PATH": options.path, **TIMES})
    try:
        settings = json.loads(options.place.read_text(encoding="utf-8"))
        prometheus = Prometheus(settings["prometheus"], settings.get("prometheus_ca", ""), QUERY_S)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        print(f"{options.place} has no settings of reports: {err}", file=sys.stderr)
        return 1
    run = Run(prometheus, options.note, Command(options.limit), time.time())
    faults = run.work()
    if run.written:
        print(f"{run.written} reports written")
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
