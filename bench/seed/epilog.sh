#!/bin/bash
# The commands that most sites start from, in the epilog of every node: delete its pods, then cordon it.
# With --force, which stands there too, kubectl refuses a grace period and deletes nothing.
NODENAME=$SLURMD_NODENAME
kubectl --kubeconfig="$KUBECONFIG" delete pods \
    --field-selector spec.nodeName="$NODENAME" \
    -n "$NAMESPACE" --grace-period=10
kubectl --kubeconfig="$KUBECONFIG" cordon "$NODENAME"
exit 0
