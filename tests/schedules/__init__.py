# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Seeded schedules of jobs and faults on a real Slurm and a real Kubernetes; their own records say what happened."""
