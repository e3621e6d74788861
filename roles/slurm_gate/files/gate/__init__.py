# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's program opens nodes to a job's pods and closes them again. Standard library only, Python 3.9 or later."""
