# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This machine's NVIDIA GPUs: Drawbridge's readers beside nvidia-smi, and jobs of a real slurmd. No mode changes."""
