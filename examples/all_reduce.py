# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All nodes add up their numbers over TCP, in plain Python; each writes what it got to sum-RANK.txt."""

import array
import os
import socket
import time
from pathlib import Path

RANK, NODES = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
ROOT = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
LENGTH = 100_000


def receive(connection: socket.socket) -> array.array:
    """A whole vector."""
    data = bytearray()
    while len(data) < LENGTH * 8:
        if not (part := connection.recv(1 << 20)):
            raise ConnectionError("the other pod is gone")
        data += part
    return array.array("d", bytes(data))


def connect() -> socket.socket:
    """Rank 0, as soon as it listens."""
    for _index in range(600):
        try:
            return socket.create_connection(ROOT, timeout=30)
        except ConnectionError:
            time.sleep(0.1)
    raise TimeoutError("rank 0 does not listen")


def all_reduce(vector: array.array) -> array.array:
    """The sum of all ranks' vectors, by way of rank 0."""
    if RANK:
        with connect() as root:
            root.sendall(vector.tobytes())
            return receive(root)
    with socket.create_server(("", ROOT[1])) as server:
        others = [server.accept()[0] for _index in range(NODES - 1)]
    for other in others:
        vector = array.array("d", map(float.__add__, vector, receive(other)))
    for other in others:
        other.sendall(vector.tobytes())
    return vector


total = all_reduce(array.array("d", [RANK + 1.0]) * LENGTH)
expected = NODES * (NODES + 1) / 2
gpus = os.environ.get("NVIDIA_VISIBLE_DEVICES", "").count(",") + 1
text = (
    f"rank {RANK} on {socket.gethostname()} as uid {os.getuid()} with {gpus} GPUs: sum {total[0]}, expected {expected}"
)
Path(f"sum-{RANK}.txt").write_text(f"{text}\n")
print(text)
raise SystemExit(any(number != expected for number in total))
