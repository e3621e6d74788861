#!/bin/sh
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
# Loads the driver and takes the steps of steps.json one by one. Their results leave by the second serial port.
trap 'busybox poweroff -f' EXIT
set -e
insmod /srv/dcb/dcb_ports.ko
for port in lo rail0 rail1 rail2 rail3; do ip link set "$port" up; done
export HOME=/tmp PYTHONPATH=/srv/dcb PYTHONDONTWRITEBYTECODE=1
python3 /srv/dcb/take.py /srv/dcb/steps.json > /tmp/results
stty -F /dev/ttyS1 raw
cat /tmp/results > /dev/ttyS1
