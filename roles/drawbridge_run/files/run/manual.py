# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What --help and the manual page say, but for the options. Lines fit a terminal of 80 columns."""

from __future__ import annotations

USAGE = """drawbridge-run --image IMAGE [OPTIONS] -- COMMAND [ARGUMENT...]
       drawbridge-run --shell [--image IMAGE | --rank N] [-- COMMAND...]
       drawbridge-run doctor [JOB]"""

DESCRIPTION = """\
Runs COMMAND in one pod on each node of this Slurm job, with all of the node's
GPUs, as yourself, and ends as it ends. Call it from a batch script of a
partition that Kubernetes may use, best as its last line and with exec:

  #!/bin/sh
  #SBATCH --partition=ai-train --nodes=2 --gres=gpu:8 --time=4:00:00
  exec drawbridge-run --image nvcr.io/nvidia/pytorch:26.07-py3 -- \\
    torchrun train.py
"""

EPILOG = """\
In the pods: the site's shared file systems at their usual paths, the directory
that you call it from, your umask, a large /dev/shm, NCCL's settings of the
site, and for torchrun and others MASTER_ADDR, MASTER_PORT, NNODES, NODE_RANK
and PET_*. Rank 0 is on the job's first node, and so on in Slurm's order.
Nothing else of your environment: pass it on with --env.

Pods have your uid and your job's group, and none of your other groups: what is
open to one of those only is closed to COMMAND.

SIGUSR1 and SIGUSR2, which Slurm sends when you ask it to
(sbatch --signal=B:USR1@300), go on to COMMAND on every rank.

What COMMAND prints on rank 0 goes to standard output, what drawbridge-run has
to say to standard error.

exit code
  that of COMMAND, on the rank that failed first
  124  the job's time limit came: the pods were told to end (SIGTERM) in time
       for --grace
  125  COMMAND did not run, or its node was lost; the last line says why
  126  it can't be run
  127  there is no such program in the image
  130  interrupted
  143  ended by Slurm (scancel, preemption)
"""
