# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""EOS text of the example sites by Arista's pyavd: an oracle that knows nothing of Drawbridge's dialect.

pyavd needs twenty packages, and an older python-dateutil than Drawbridge's environment has. So its output is stored,
and written anew on demand:

    uv venv build/avd && uv pip install --python build/avd/bin/python pyavd==6.4.0
    build/avd/bin/python -m tests.avd
"""
