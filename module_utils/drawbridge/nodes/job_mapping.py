# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a node keeps the job of each GPU."""

from __future__ import annotations

JOB_MAPPING = "/run/drawbridge/job-mapping"
"""Slurm's Prolog and Epilog write the files there (slurm-job-gpus), and DCGM's exporter reads them."""
