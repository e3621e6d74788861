# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the show commands say about the lossless class: what the hardware does, port by port.

Layouts: EOS manual (QoS; DCBX and flow control) and public captures. None of these commands has documented JSON.
"""

from __future__ import annotations

from lab.emulators.fabric.cli.shows import Answer, Question, Shows, columns
from lab.emulators.fabric.eos import tree
from lab.emulators.fabric.eos.ports import ports


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


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


QOS: Shows = {
    "show priority-flow-control [<status:status>]": pfc,
    "show priority-flow-control interfaces <port:port> [<status:status>]": pfc,
    "show qos interfaces <port:port> ecn": ecn,
}
