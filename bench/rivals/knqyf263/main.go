// Knqyf263 asks a plug-in by knqyf263/go-plugin, which runs WASM in this process.
//
//	knqyf263 GUEST [CACHE]    # CACHE: a folder for compiled code
package main

import (
	"context"
	"os"

	"github.com/knqyf263/go-plugin/examples/helloworld/greeting"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/lola-ext/lola/bench/rivals/answer"
)

func main() { answer.Exit(run()) }

func run() error {
	ctx := context.Background()
	// The generated default, but for the cache.
	runtime := func(ctx context.Context) (wazero.Runtime, error) {
		config := wazero.NewRuntimeConfig()
		if len(os.Args) > 2 {
			cache, err := wazero.NewCompilationCacheWithDir(os.Args[2])
			if err != nil {
				return nil, err
			}
			config = config.WithCompilationCache(cache)
		}
		r := wazero.NewRuntimeWithConfig(ctx, config)
		_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
		return r, err
	}
	p, err := greeting.NewGreeterPlugin(ctx, greeting.WazeroRuntime(runtime))
	if err != nil {
		return err
	}
	loaded, err := p.Load(ctx, os.Args[1])
	if err != nil {
		return err
	}
	defer loaded.Close(ctx)
	reply, err := loaded.Greet(ctx, &greeting.GreetRequest{Name: answer.Request})
	if err != nil {
		return err
	}
	return answer.Check([]byte(reply.GetMessage()))
}
