# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the show commands count, port by port and queue by queue.

JSON keys: `show priority-flow-control counters`, `show qos interfaces ecn counters queue` and `show interfaces counters
queue detail` as Arista's network test framework ANTA reads them, with its unit tests' data. `counters detail` and
`counters watchdog` as Meta's health checks of EOS switches read them: the latter leaves out ports without an event.
Text: the EOS manual's header of PFC counters; the other texts are modelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli.shows import Answer, Question, Shows, columns
from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.eos.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.emulators.fabric.eos.ports import Port

PACKET_BYTES = 4096
WAYS = ("rx", "tx")


def _table(titles: str, rows: list[list[str]], data: dict[str, Any]) -> Answer:
    return Answer("\n".join(columns([titles.split(), *rows], "  ")), data)


def _frames(question: Question, name: str, priorities: Iterable[int]) -> dict[str, int]:
    return {f"{way}Frames": sum(count(question.state, name, n, f"{way}_pause") for n in priorities) for way in WAYS}


def pfc(question: Question) -> Answer:
    """`show priority-flow-control counters`: pause frames of a port, all priorities together."""
    data = {one.name: _frames(question, one.name, PRIORITIES) for one in ports(question)}
    rows = [[name, *map(str, it.values())] for name, it in data.items()]
    return _table("Port RxPfc TxPfc", rows, {"interfaceCounters": data})


def pfc_detail(question: Question) -> Answer:
    """`show priority-flow-control counters detail`: the same by priority."""
    names = [one.name for one in ports(question)]
    data = {name: {"priorities": {str(n): _frames(question, name, [n]) for n in PRIORITIES}} for name in names}
    rows = [[name, n, *map(str, it.values())] for name in names for n, it in data[name]["priorities"].items()]
    return _table("Port Priority RxPfc TxPfc", rows, {"interfaces": data})


def watchdog(question: Question) -> Answer:
    """`show priority-flow-control counters watchdog`: ports whose queues were stuck."""
    data: dict[str, Any] = {}
    for one in ports(question):
        for n in PRIORITIES:
            if stuck := count(question.state, one.name, n, "storms"):
                queue = {"stuckCount": stuck, "recoveryCount": count(question.state, one.name, n, "restored")}
                data.setdefault(one.name, {"txQueues": {}})["txQueues"][str(n)] = queue
    rows = [[name, n, *map(str, it.values())] for name, port in data.items() for n, it in port["txQueues"].items()]
    return _table("Port TxQ Stuck Recovered", rows, {"interfaces": data})


def marks(question: Question) -> Answer:
    """`show qos interfaces ecn counters queue`: a queue that does not count its marks shows `-`."""
    data = {
        one.name: {"queueCounters": {str(n): _marked(question, one, n) for n in PRIORITIES}} for one in ports(question)
    }
    rows = [[name, n, value] for name, it in data.items() for n, value in it["queueCounters"].items()]
    return _table("Port TxQ Marked", rows, {"intfQueueCounters": data})


def _marked(question: Question, one: Port, queue: int) -> str:
    counts = "random-detect ecn count" in one.queues.get(str(queue), ())
    return str(count(question.state, one.name, queue, "marked")) if counts else "-"


def queues(question: Question) -> Answer:
    """`show interfaces counters queue detail`: drops of each class, by drop precedence."""
    data: dict[str, Any] = {}
    rows: list[list[str]] = []
    for one in ports(question):
        classes: dict[str, Any] = {}
        for n in PRIORITIES:
            dropped = count(question.state, one.name, n, "dropped")
            counts = {"enqueuedPackets": 0, "enqueuedBytes": 0, "droppedPackets": dropped}
            classes[f"TC{n}"] = {"dropPrecedences": {"DP0": {**counts, "droppedBytes": dropped * PACKET_BYTES}}}
            rows.append([f"Et{one.name[8:]}", f"UC{n}", "0", "0", str(dropped), str(dropped * PACKET_BYTES)])
        data[one.name] = {"ucastQueues": {"trafficClasses": classes}, "mcastQueues": {"trafficClasses": {}}}
    titles = "Port TxQ Counter/pkts Counter/bytes Drop/pkts Drop/bytes"
    return _table(titles, rows, {"egressQueueCounters": {"interfaces": data}})


COUNTERS: Shows = {
    "show priority-flow-control counters": pfc,
    "show priority-flow-control counters detail": pfc_detail,
    "show priority-flow-control counters watchdog": watchdog,
    "show qos interfaces ecn counters queue": marks,
    "show interfaces counters queue detail": queues,
}
