# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Races of a job's end with the scheduler, on real daemons; the API server's audit log says what happened."""
