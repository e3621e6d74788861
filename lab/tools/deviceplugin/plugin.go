// Copyright: Drawbridge contributors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// registerTimeout is for a kubelet that has just started on a machine that has much else to do.
const registerTimeout = 60 * time.Second

// plugin serves one resource to one kubelet at a time.
type plugin struct {
	api.UnimplementedDevicePluginServer
	resource   resource
	server     *grpc.Server
	registered string // identity of the kubelet's socket that knows this plugin

	mu      sync.Mutex
	states  map[string]string
	changed chan struct{} // closed, and replaced, at each change of states
}

func newPlugin(r resource) *plugin {
	return &plugin{resource: r, changed: make(chan struct{})}
}

// start serves on a fresh socket and registers it with the kubelet.
func (p *plugin) start(directory, kubeletSocket string) error {
	if p.server != nil {
		p.server.Stop()
	}
	endpoint := "lab-" + strings.NewReplacer("/", "-", ".", "-").Replace(p.resource.Name) + ".sock"
	socket := filepath.Join(directory, endpoint)
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	p.server = grpc.NewServer()
	api.RegisterDevicePluginServer(p.server, p)
	go func(s *grpc.Server) { _ = s.Serve(listener) }(p.server)

	connection, err := grpc.NewClient("unix://"+kubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), registerTimeout)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: endpoint, ResourceName: p.resource.Name, Options: &api.DevicePluginOptions{},
	})
	return err
}

// fail replaces the set of failed devices and tells the kubelet.
func (p *plugin) fail(states map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.states = states
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *plugin) snapshot() (*api.ListAndWatchResponse, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := &api.ListAndWatchResponse{}
	for _, d := range p.resource.Devices {
		state := p.states[d.ID]
		if state == "absent" {
			continue
		}
		listed := &api.Device{ID: d.ID, Health: api.Healthy}
		if state == "unhealthy" {
			listed.Health = api.Unhealthy
		}
		if d.NUMA != nil {
			listed.Topology = &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: *d.NUMA}}}
		}
		answer.Devices = append(answer.Devices, listed)
	}
	return answer, p.changed
}

// ListAndWatch sends the devices now and after every change.
func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	for {
		answer, changed := p.snapshot()
		if err := stream.Send(answer); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// GetDevicePluginOptions asks for no preferred allocation and no call before a container starts.
func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// Allocate names the devices in the resource's variable, in the order of the configuration, and gives their files.
func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		given := &api.ContainerAllocateResponse{}
		var ids []string
		for _, d := range p.inOrder(container.DevicesIds) {
			ids = append(ids, d.ID)
			if d.Path != "" {
				file := &api.DeviceSpec{HostPath: d.Path, ContainerPath: d.Path, Permissions: "rw"}
				given.Devices = append(given.Devices, file)
			}
		}
		if p.resource.Env != "" {
			given.Envs = map[string]string{p.resource.Env: strings.Join(ids, ",")}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, given)
	}
	return answer, nil
}

func (p *plugin) inOrder(ids []string) []device {
	chosen := make(map[string]bool, len(ids))
	for _, id := range ids {
		chosen[id] = true
	}
	var ordered []device
	for _, d := range p.resource.Devices {
		if chosen[d.ID] {
			ordered = append(ordered, d)
		}
	}
	return ordered
}
