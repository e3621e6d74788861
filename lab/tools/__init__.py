# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The programs that the lab builds for itself."""
