# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All ranks add up their numbers with PyTorch: by NCCL if there are GPUs, otherwise by Gloo.

Start it with torchrun. Each rank prints its sum, and the exit code is not 0 if one is wrong. The last line of rank 0 is
the bus bandwidth in GB/s, as nccl-tests count it. So a script that runs it with `torchrun --standalone` can be the
training script of a proof of nodes. ALL_REDUCE_MIB is the size of a vector, ALL_REDUCE_ROUNDS how often it is summed.
"""

import os
import socket
import time

import torch
import torch.distributed as dist

BYTES = int(os.environ.get("ALL_REDUCE_MIB", "64")) << 20
ROUNDS = int(os.environ.get("ALL_REDUCE_ROUNDS", "20"))
GPU = torch.cuda.is_available()


def all_reduce(vector: torch.Tensor, rounds: int = 1) -> float:
    """Replace the vector by the sum of all ranks' vectors, several times; the seconds that it took."""
    begun = time.monotonic()
    for _index in range(rounds):
        dist.all_reduce(vector)
    if GPU:
        torch.cuda.synchronize()
    return time.monotonic() - begun


def summed(vector: torch.Tensor) -> int:
    """The number of elements whose sum is wrong on this rank; prints the sum."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    all_reduce(vector.fill_(rank + 1.0))
    expected = ranks * (ranks + 1) / 2
    wrong = int((vector != expected).sum())
    text = f"sum {vector[0].item()}, expected {expected}" + (f", WRONG in {wrong} elements" if wrong else "")
    # one write, so that lines of a node's ranks do not mix
    print(f"rank {rank} of {ranks} on {socket.gethostname()} ({dist.get_backend()}): {text}\n", end="", flush=True)
    return wrong


def main() -> int:
    """Add up, measure, and add up again; the exit code."""
    if GPU:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if GPU else "gloo")
    vector = torch.empty(BYTES // 4, device="cuda" if GPU else "cpu")
    wrong = summed(vector)
    seconds = all_reduce(vector.zero_(), ROUNDS) / ROUNDS
    wrong += summed(vector)
    all_reduce(total := torch.tensor([wrong], device=vector.device))
    ranks = dist.get_world_size()
    if dist.get_rank() == 0 and not total.item():
        print(f"{2 * (ranks - 1) / ranks * BYTES / seconds / 1e9:.3f}", flush=True)
    dist.destroy_process_group()
    return 1 if total.item() else 0


raise SystemExit(main())
