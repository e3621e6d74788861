# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A model of Slurm and Kubernetes around the real gate: seeded schedules of jobs and faults, and what must hold."""
