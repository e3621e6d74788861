#!/bin/sh
# A node as kubeadm and its package leave it: the unit, its drop-in, the flags file, and no --config-dir.
set -eux
package=/usr/lib/systemd/system

rm -rf /etc/systemd/system/kubelet.service /etc/kubernetes/kubelet.conf.d
mkdir -p $package/kubelet.service.d
cat > $package/kubelet.service <<'END'
[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target containerd.service
After=network-online.target containerd.service

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
END
cat > $package/kubelet.service.d/10-kubeadm.conf <<'END'
# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
END
. /etc/default/kubelet
rm /etc/default/kubelet
echo "KUBELET_KUBEADM_ARGS=\"--hostname-override=$NODE_NAME --node-ip=$NODE_IP\"" > /var/lib/kubelet/kubeadm-flags.env
systemctl daemon-reload
systemctl enable -q --now kubelet
touch /var/lib/kubelet/by-kubeadm
