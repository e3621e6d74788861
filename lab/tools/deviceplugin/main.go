// Copyright: Drawbridge contributors
// SPDX-License-Identifier: Apache-2.0

// Command deviceplugin offers a kubelet devices that exist only on paper.
//
// It stands in for the vendors' device plugins: everything above it (the kubelet's device manager, its NUMA hints, the
// scheduler's counting) is the real thing. A JSON file names the resources; a control file, read again twice a second,
// makes devices unhealthy or takes them away:
//
//	config:  {"resources": [{"name": "nvidia.com/gpu", "env": "NVIDIA_VISIBLE_DEVICES",
//	                         "devices": [{"id": "GPU-0", "numa": 0}]}]}
//	control: {"nvidia.com/gpu": {"GPU-0": "unhealthy", "GPU-1": "absent"}}
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"time"
)

const pollInterval = 500 * time.Millisecond

type device struct {
	ID   string `json:"id"`
	NUMA *int64 `json:"numa"`
	Path string `json:"path"` // its device file, if a container may open it
}

type resource struct {
	Name    string   `json:"name"`
	Env     string   `json:"env"`
	Devices []device `json:"devices"`
}

type config struct {
	Resources []resource `json:"resources"`
}

// faults maps resource name and device ID to "unhealthy" or "absent".
type faults map[string]map[string]string

func main() {
	configPath := flag.String("config", "/etc/lab/deviceplugin.json", "resources to offer")
	controlPath := flag.String("control", "/var/lib/lab/deviceplugin/control.json", "devices to fail")
	directory := flag.String("directory", "/var/lib/kubelet/device-plugins", "the kubelet's plugin directory")
	flag.Parse()
	log.SetFlags(0)

	var wanted config
	if err := readJSON(*configPath, &wanted); err != nil {
		log.Fatalf("%s cannot be used: %v", *configPath, err)
	}
	plugins := make([]*plugin, 0, len(wanted.Resources))
	for _, r := range wanted.Resources {
		plugins = append(plugins, newPlugin(r))
	}
	watch(plugins, *directory, *controlPath)
}

// watch serves and registers every plugin anew whenever the kubelet's socket is another one: a starting kubelet
// empties the directory, our sockets included. A plugin that is registered is left alone: without it for a moment, the
// kubelet would refuse a pod.
func watch(plugins []*plugin, directory, controlPath string) {
	var registered string
	var current faults
	for ; ; time.Sleep(pollInterval) {
		if next, err := readFaults(controlPath); err != nil {
			log.Printf("%s is ignored: %v", controlPath, err)
		} else if !reflect.DeepEqual(next, current) {
			current = next
			for _, p := range plugins {
				p.fail(current[p.resource.Name])
			}
		}
		socket := filepath.Join(directory, "kubelet.sock")
		identity := socketIdentity(socket)
		if identity == "" || identity == registered {
			continue
		}
		if err := startAll(plugins, directory, socket, identity); err != nil {
			log.Printf("not registered yet: %v", err)
			continue
		}
		registered = identity
	}
}

func startAll(plugins []*plugin, directory, socket, identity string) error {
	for _, p := range plugins {
		if p.registered == identity {
			continue
		}
		if err := p.start(directory, socket); err != nil {
			return fmt.Errorf("%s: %w", p.resource.Name, err)
		}
		p.registered = identity
	}
	log.Printf("registered %d resources", len(plugins))
	return nil
}

// socketIdentity tells one kubelet's socket from the next one's; inode numbers alone are re-used at once.
func socketIdentity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d/%d.%09d", stat.Ino, stat.Ctim.Sec, stat.Ctim.Nsec)
}

func readFaults(path string) (faults, error) {
	var read faults
	err := readJSON(path, &read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return read, err
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
