// Hog allocates and touches memory without bound.
package main

import "github.com/lola-ext/lola/sdk/ext"

func init() { ext.Register(hog) }

func main() { ext.Main() }

// kept is a variable of the package, lest the compiler see that nobody reads it.
var kept [][]byte

func hog(*ext.Request, *ext.Plan) error {
	for {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		kept = append(kept, piece)
	}
}
