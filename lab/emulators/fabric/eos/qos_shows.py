# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the show commands say about the lossless class: what the hardware does, port by port.

Layouts: EOS manual (QoS; DCBX and flow control) and public captures. JSON keys: `interfaceCounters` with rxFrames and
txFrames, `intfQueueCounters` with queueCounters, and the watchdog's `interfaces`, which leaves out ports without an
event. The other commands have no documented JSON here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.eos import tree
from lab.emulators.fabric.eos.ports import ports
from lab.emulators.fabric.eos.shows import Answer, Question, columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.eos.sessions import State

DEFAULT_CLASS = (1, 0, 2, 3, 4, 5, 6, 7)
"""Traffic class of each block of eight DSCPs, and of each CoS: 0 and 1 are swapped."""


def pfc(question: Question) -> Answer:
    """`show priority-flow-control [status]`: which ports pause which priorities."""
    rows = [["Port", "Enabled", "Priorities", "Active", "Note"]]
    for one in ports(question):
        state = [_yes(one.pfc), " ".join(one.lossless), _yes(one.pfc and one.up)]
        rows.append([one.name, *state, "DCBX disabled"])
    head = ["The hardware supports PFC on priorities 0 1 2 3 4 5 6 7"]
    head += _watchdog(question.state["running"]) if "status" in question.args else []
    return Answer("\n".join([*head, "Global PFC : Enabled", "", *columns(rows, "  ")]))


def _watchdog(running: tree.Node) -> list[str]:
    """Return the watchdog's times as they work, which isn't always as they are configured."""
    texts = [text for key, text in running["lines"].items() if key.startswith("86.")]
    said = {text.split()[-2]: text.split()[-1] for text in texts}
    said["polling-interval"] = tree.polling(running)[1] or "0.0"
    names = ("timeout", "recovery-time", "polling-interval")
    times = [f"The PFC watchdog {name} is {said.get(name, '0.0')} second(s)" for name in names]
    return [*times, f"The PFC watchdog action is {said.get('action', 'errdisable')}"]


def pfc_counters(question: Question) -> Answer:
    """`show priority-flow-control counters`: pause frames received and sent."""
    counters = {one.name: _counters(question.state, one.name) for one in ports(question)}
    data = {name: {"rxFrames": c["rxFrames"], "txFrames": c["txFrames"]} for name, c in counters.items()}
    lines = [f"{'Port':<12}{'RxPfc':>16}{'TxPfc':>16}"]
    lines += [f"Et{name[8:]:<10}{c['rxFrames']:>16}{c['txFrames']:>16}" for name, c in data.items()]
    return Answer("\n".join(lines), {"interfaceCounters": data})


def watchdog_counters(question: Question) -> Answer:
    """`show priority-flow-control counters watchdog`: only ports that have had an event are listed."""
    events = {one.name: _counters(question.state, one.name)["watchdog"] for one in ports(question)}
    rows = [["Port", "TxQ", "Stuck", "Recovered"]]
    for name, queues in events.items():
        rows += [[f"Et{name[8:]}", q, str(n["stuckCount"]), str(n["recoveryCount"])] for q, n in sorted(queues.items())]
    data = {name: {"txQueues": queues} for name, queues in events.items() if queues}
    return Answer("\n".join(columns(rows, "  ")), {"interfaces": data})


def ecn_counters(question: Question) -> Answer:
    """`show qos interfaces ecn counters queue`: marked packets of the queues that are told to count them."""
    data: dict[str, Any] = {}
    for one in ports(question):
        marked = _counters(question.state, one.name)["ecn"]
        counted = [queue for queue, texts in one.queues.items() if "random-detect ecn count" in texts]
        data[one.name] = {"queueCounters": {queue: str(marked.get(queue, 0)) for queue in sorted(counted)}}
    rows = [["Port", "TxQ", "MarkedPackets"]]
    rows += [[f"Et{name[8:]}", q, n] for name, one in data.items() for q, n in one["queueCounters"].items()]
    return Answer("\n".join(columns(rows, "  ")), {"intfQueueCounters": data})


def profile(question: Question) -> Answer:
    """`show qos profile [NAME]`: the profile as it is configured."""
    wanted = question.args.get("name")
    titles = [tree.header(key) for key in question.state["running"]["blocks"] if " qos profile " in key]
    chosen = [title for title in titles if wanted in (None, title.split()[2])]
    lines = tree.render(question.state["running"])
    printed: list[str] = []
    for title in chosen:
        start = lines.index(title) + 1
        body = next((i for i, line in enumerate(lines[start:]) if not line.startswith(" ")), len(lines) - start)
        printed += [title, *lines[start : start + body]]
    return Answer("\n".join(printed))


def maps(question: Question) -> Answer:
    """`show qos maps`: the class of each DSCP and the queue of each class, defaults included."""
    classes = [DEFAULT_CLASS[dscp // 8] for dscp in range(64)]
    queues = list(range(8))
    for text in question.state["running"]["lines"].values():
        words = text.split()
        if words[:3] == ["qos", "map", "dscp"]:
            classes[int(words[3])] = int(words[-1])
        elif words[:3] == ["qos", "map", "traffic-class"]:
            queues[int(words[3])] = int(words[-1])
    tens = [f"      {d1} :     " + "  ".join(str(tc) for tc in classes[d1 * 10 : d1 * 10 + 10]) for d1 in range(7)]
    lines = [
        "   Number of Traffic Classes supported: 8",
        "   Number of Transmit Queues supported: 8",
        "   Cos Rewrite: Disabled",
        "   Dscp Rewrite: Disabled",
        "",
        "   Cos-tc map:",
        "     cos:  0  1  2  3  4  5  6  7",
        "     ----------------------------",
        "     tc:   " + "  ".join(str(tc) for tc in DEFAULT_CLASS),
        "",
        "   Dscp-tc map:",
        "     d1 :  d2 0  1  2  3  4  5  6  7  8  9",
        "     --------------------------------------",
        *tens,
        "",
        "   Tc - tx-queue map:",
        "     tc:           0  1  2  3  4  5  6  7",
        "     -------------------------------------",
        "     tx-queue:     " + "  ".join(str(queue) for queue in queues),
    ]
    return Answer("\n".join(lines))


def trust(question: Question) -> Answer:
    """`show qos interfaces PORT trust`: routed ports trust DSCP by default, switched ones CoS."""
    lines = [f"{'Port':<24}{'Trust Mode':>22}", f"{'':<32}{'Operational':<16}Configured", "-" * 63]
    for one in ports(question):
        said = next(
            (t.rpartition(" ")[2].upper() for t in reversed(one.lines) if t.startswith("qos trust ")), "DEFAULT"
        )
        said = "UNTRUSTED" if "no qos trust" in one.lines else said
        works = ("DSCP" if "no switchport" in one.lines else "COS") if said == "DEFAULT" else said
        lines.append(f"{one.name:<32}{works:<16}{said}")
    return Answer("\n".join(lines))


def ecn(question: Question) -> Answer:
    """`show qos interfaces PORT ecn`: the thresholds that each queue marks at."""
    lines = [
        "Tx-Queue  Threshold  ECN Min     ECN Max",
        "          Unit       Threshold   Threshold",
        "--------  ---------  ---------   ---------",
    ]
    for queue, texts in sorted(ports(question)[0].queues.items()):
        for words in (text.split() for text in texts if text.startswith("random-detect ecn minimum")):
            lines.append(f"{queue:<10}{words[4]:<11}{words[3]:<12}{words[6]}")
    return Answer("\n".join(lines))


def _counters(state: State, name: str) -> dict[str, Any]:
    return {"rxFrames": 0, "txFrames": 0, "ecn": {}, "watchdog": {}, **state["counters"].get(name, {})}


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


QOS: dict[str, Callable[[Question], Answer]] = {
    "show priority-flow-control [<status:status>]": pfc,
    "show priority-flow-control interfaces <port:port> [<status:status>]": pfc,
    "show priority-flow-control counters [detail]": pfc_counters,
    "show priority-flow-control interfaces <port:port> counters": pfc_counters,
    "show priority-flow-control counters watchdog": watchdog_counters,
    "show qos interfaces [<port:port>] ecn counters queue": ecn_counters,
    "show qos profile [<name:word>]": profile,
    "show qos maps": maps,
    "show qos interfaces [<port:port>] trust": trust,
    "show qos interfaces <port:port> ecn": ecn,
}
