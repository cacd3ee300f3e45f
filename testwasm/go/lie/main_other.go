//go:build !wasip1

package main

// Natively there is no ABI to lie in.
func main() {}
