# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What makes a small guest look like a two-socket GPU server to the kubelet, slurmd and our roles."""
