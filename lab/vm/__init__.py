# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts as virtual machines: a kernel of their own, with cgroup v2 and kernel modules."""
