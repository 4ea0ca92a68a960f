// The entrypoint of the image: starts Node with the bundle and the arguments it was given.
//
// The file carries the capability to bind ports below 1024, permitted but not effective: a pod without privilege escalation starts it
// all the same. Where the capability is granted, the launcher hands it on to Node, so that a process that is not root serves port 443.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

const (
	node    = "/usr/bin/node"
	program = "/snapkeep/snapkeep.js"

	netBindService = 10
	capVersion3    = 0x20080522
	prCapAmbient   = 47
	prAmbientRaise = 2
)

type capHeader struct {
	version uint32
	pid     int32
}

type capData struct{ effective, permitted, inheritable uint32 }

func main() {
	// Capabilities belong to a thread, and the thread that calls execve hands them on.
	runtime.LockOSThread()
	keepPortCapability()
	arguments := append([]string{node, "--max-semi-space-size=4", program}, os.Args[1:]...)
	err := syscall.Exec(node, arguments, os.Environ())
	fmt.Fprintf(os.Stderr, "snapkeep: %s cannot be started: %v\n", node, err)
	os.Exit(1)
}

// keepPortCapability does nothing where the capability is not permitted.
func keepPortCapability() {
	header := capHeader{version: capVersion3}
	var data [2]capData
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0); errno != 0 {
		return
	}
	if data[0].permitted&(1<<netBindService) == 0 {
		return
	}
	data[0].inheritable |= 1 << netBindService
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0); errno != 0 {
		return
	}
	syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prAmbientRaise, netBindService, 0, 0, 0)
}
