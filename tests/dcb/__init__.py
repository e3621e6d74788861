# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module mlnx_qos with the real dcb on a real kernel, whose network devices are those of a driver for tests."""
