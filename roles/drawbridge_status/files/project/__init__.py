# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge project`: projects of a person, with time, use and space, and the report of a month. It only reads."""
