# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real control plane and real kubelets for the lab's hosts: certificates, units, configuration and pod images."""
