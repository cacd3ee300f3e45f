// Spin never answers. Its loop calls nothing, so that nothing can interrupt it from within.
package main

import "github.com/lola-ext/lola/sdk/ext"

func init() { ext.Register(spin) }

func main() { ext.Main() }

func spin(*ext.Request, *ext.Plan) error {
	for {
	}
}
