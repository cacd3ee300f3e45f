// Extism asks a plug-in by Extism's SDK, in this process.
//
//	extism GUEST [CACHE]    # CACHE: a folder for compiled code
package main

import (
	"context"
	"fmt"
	"os"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"

	"github.com/lola-ext/lola/bench/rivals/answer"
)

func main() { answer.Exit(run()) }

func run() error {
	ctx := context.Background()
	config := extism.PluginConfig{EnableWasi: true}
	if len(os.Args) > 2 {
		cache, err := wazero.NewCompilationCacheWithDir(os.Args[2])
		if err != nil {
			return err
		}
		defer cache.Close(ctx)
		config.RuntimeConfig = wazero.NewRuntimeConfig().WithCompilationCache(cache)
	}
	p, err := extism.NewPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{extism.WasmFile{Path: os.Args[1]}}}, config, nil)
	if err != nil {
		return err
	}
	defer p.Close(ctx)
	status, reply, err := p.Call("plan", []byte(answer.Request))
	if err == nil && status != 0 {
		err = fmt.Errorf("call plan: status %d", status)
	}
	if err != nil {
		return err
	}
	return answer.Check(reply)
}
