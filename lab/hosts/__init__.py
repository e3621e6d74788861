# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's hosts: what they are, where they live, and the back end that boots them."""
