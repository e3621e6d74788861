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
from lab.emulators.fabric.counted import PRIORITIES, count
from lab.emulators.fabric.eos.ports import ports

if TYPE_CHECKING:
    from lab.emulators.fabric.eos.ports import Port

PACKET_BYTES = 4096


def pfc(question: Question) -> Answer:
    """`show priority-flow-control counters`: pause frames of a port, all priorities together."""
    data = {
        one.name: {
            "rxFrames": sum(count(question.state, one.name, n, "rx_pause") for n in PRIORITIES),
            "txFrames": sum(count(question.state, one.name, n, "tx_pause") for n in PRIORITIES),
        }
        for one in ports(question)
    }
    rows = [["Port", "RxPfc", "TxPfc"]]
    rows += [[name, str(it["rxFrames"]), str(it["txFrames"])] for name, it in data.items()]
    return Answer("\n".join(columns(rows, "  ")), {"interfaceCounters": data})


def pfc_detail(question: Question) -> Answer:
    """`show priority-flow-control counters detail`: the same by priority."""
    data = {
        one.name: {
            "priorities": {
                str(n): {
                    "rxFrames": count(question.state, one.name, n, "rx_pause"),
                    "txFrames": count(question.state, one.name, n, "tx_pause"),
                }
                for n in PRIORITIES
            }
        }
        for one in ports(question)
    }
    rows = [["Port", "Priority", "RxPfc", "TxPfc"]]
    for name, port in data.items():
        rows += [[name, n, str(it["rxFrames"]), str(it["txFrames"])] for n, it in port["priorities"].items()]
    return Answer("\n".join(columns(rows, "  ")), {"interfaces": data})


def watchdog(question: Question) -> Answer:
    """`show priority-flow-control counters watchdog`: ports whose queues were stuck."""
    data: dict[str, Any] = {}
    for one in ports(question):
        for n in PRIORITIES:
            if stuck := count(question.state, one.name, n, "storms"):
                queue = {"stuckCount": stuck, "recoveryCount": count(question.state, one.name, n, "restored")}
                data.setdefault(one.name, {"txQueues": {}})["txQueues"][str(n)] = queue
    rows = [["Port", "TxQ", "Stuck", "Recovered"]]
    for name, port in data.items():
        rows += [[name, n, str(it["stuckCount"]), str(it["recoveryCount"])] for n, it in port["txQueues"].items()]
    return Answer("\n".join(columns(rows, "  ")), {"interfaces": data})


def marks(question: Question) -> Answer:
    """`show qos interfaces ecn counters queue`: a queue that does not count its marks shows `-`."""
    data = {
        one.name: {"queueCounters": {str(n): _marked(question, one, n) for n in PRIORITIES}} for one in ports(question)
    }
    rows = [["Port", "TxQ", "Marked"]]
    rows += [[name, n, value] for name, it in data.items() for n, value in it["queueCounters"].items()]
    return Answer("\n".join(columns(rows, "  ")), {"intfQueueCounters": data})


def _marked(question: Question, one: Port, queue: int) -> str:
    counts = "random-detect ecn count" in one.queues.get(str(queue), ())
    return str(count(question.state, one.name, queue, "marked")) if counts else "-"


def queues(question: Question) -> Answer:
    """`show interfaces counters queue detail`: drops of each class, by drop precedence."""
    data: dict[str, Any] = {}
    rows = [["Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"]]
    for one in ports(question):
        classes: dict[str, Any] = {}
        for n in PRIORITIES:
            dropped = count(question.state, one.name, n, "dropped")
            counts = {"enqueuedPackets": 0, "enqueuedBytes": 0, "droppedPackets": dropped}
            classes[f"TC{n}"] = {"dropPrecedences": {"DP0": {**counts, "droppedBytes": dropped * PACKET_BYTES}}}
            rows.append([f"Et{one.name[8:]}", f"UC{n}", "0", "0", str(dropped), str(dropped * PACKET_BYTES)])
        data[one.name] = {"ucastQueues": {"trafficClasses": classes}, "mcastQueues": {"trafficClasses": {}}}
    return Answer("\n".join(columns(rows, "  ")), {"egressQueueCounters": {"interfaces": data}})


COUNTERS: Shows = {
    "show priority-flow-control counters": pfc,
    "show priority-flow-control counters detail": pfc_detail,
    "show priority-flow-control counters watchdog": watchdog,
    "show qos interfaces ecn counters queue": marks,
    "show interfaces counters queue detail": queues,
}
