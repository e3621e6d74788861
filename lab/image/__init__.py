# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab hosts' operating system image and the package repository that they install from."""
