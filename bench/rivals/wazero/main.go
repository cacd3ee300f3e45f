// Wazero runs a guest of ours in this process, with nothing around it: no child, no walls, no bounds.
//
//	wazero GUEST REQUEST [CACHE]    # REQUEST: a file; CACHE: a folder for compiled code
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/lola-ext/lola/bench/rivals/answer"
)

func main() { answer.Exit(run()) }

func run() error {
	ctx := context.Background()
	module, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	request, err := os.ReadFile(os.Args[2])
	if err != nil {
		return err
	}
	config := wazero.NewRuntimeConfig()
	if len(os.Args) > 3 {
		cache, err := wazero.NewCompilationCacheWithDir(os.Args[3])
		if err != nil {
			return err
		}
		defer cache.Close(ctx)
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return err
	}
	guest, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		return err
	}
	call := func(name string, args ...uint64) uint32 {
		var results []uint64
		if err == nil {
			results, err = guest.ExportedFunction(name).Call(ctx, args...)
		}
		if err != nil || len(results) != 1 {
			return 0
		}
		return uint32(results[0])
	}
	at := call("lola_alloc", uint64(len(request)))
	if err != nil {
		return err
	}
	if !guest.Memory().Write(at, request) {
		return errors.New("write request: there is no room")
	}
	if status := call("lola_run", uint64(at), uint64(len(request))); err == nil && status != 0 {
		err = fmt.Errorf("run guest: status %d", status)
	}
	at, n := call("lola_plan_ptr"), call("lola_plan_len")
	if err != nil {
		return err
	}
	if plan, ok := guest.Memory().Read(at, n); !ok || len(plan) < 20<<10 {
		return fmt.Errorf("read plan: %d bytes, want at least 20 KiB", len(plan))
	}
	return nil
}
