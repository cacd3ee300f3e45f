package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// A node is CBOR under construction, as the lines of a vector file. It is put together without any codec of ours, and
// builds what a codec would refuse just as readily.
type node struct {
	lines []string // hexadecimal words with an optional "# comment"
}

// raw is bytes that no function below would make.
func raw(hexWords, comment string) node {
	if comment != "" {
		comment = " # " + comment
	}
	return node{[]string{hexWords + comment}}
}

// head is an initial byte with its argument in the shortest form.
func head(major byte, n uint64) string {
	m := major << 5
	switch {
	case n < 24:
		return hex.EncodeToString([]byte{m | byte(n)})
	case n < 1<<8:
		return fmt.Sprintf("%02x%02x", m|24, n)
	case n < 1<<16:
		return fmt.Sprintf("%02x%04x", m|25, n)
	case n < 1<<32:
		return fmt.Sprintf("%02x%08x", m|26, n)
	default:
		return fmt.Sprintf("%02x%016x", m|27, n)
	}
}

func uintOf(n uint64) node { return raw(head(0, n), fmt.Sprint(n)) }

// negOf is the integer -1-n.
func negOf(n uint64) node { return raw(head(1, n), fmt.Sprintf("-1 - %d", n)) }

func textOf(s string) node {
	words := head(3, uint64(len(s)))
	if s != "" {
		words += " " + hex.EncodeToString([]byte(s))
	}
	return raw(words, fmt.Sprintf("%q", clip(s)))
}

func bytesOf(b string) node {
	words := head(2, uint64(len(b)))
	if b != "" {
		words += " " + hex.EncodeToString([]byte(b))
	}
	return raw(words, fmt.Sprintf("%d bytes", len(b)))
}

// digestOf is a byte string of n bytes that count up.
func digestOf(n int) node {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return bytesOf(string(b))
}

var (
	falseNode = raw("f4", "false")
	trueNode  = raw("f5", "true")
	nullNode  = raw("f6", "null")
)

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
	}
	return out
}

func arrayOf(items ...node) node {
	n := raw(head(4, uint64(len(items))), fmt.Sprintf("array of %d", len(items)))
	for _, item := range items {
		n.lines = append(n.lines, indent(item.lines)...)
	}
	return n
}

// A pair is one entry of a map.
type pair struct {
	key   string
	value node
}

// An object is a map under construction. Its entries are written in the order they have here.
type object []pair

func (o object) node() node {
	n := raw(head(5, uint64(len(o))), fmt.Sprintf("map of %d", len(o)))
	for _, p := range o {
		key, value := textOf(p.key), indent(p.value.lines)
		n.lines = append(n.lines, "  "+key.lines[0])
		n.lines = append(n.lines, indent(value)...)
	}
	return n
}

// sorted orders the entries as core deterministic encoding does: bytewise by the encoded key, which for text is by
// length, then bytewise.
func (o object) sorted() object {
	s := slices.Clone(o)
	slices.SortStableFunc(s, func(a, b pair) int {
		return cmp.Or(cmp.Compare(len(a.key), len(b.key)), strings.Compare(a.key, b.key))
	})
	return s
}

// with returns o with key set to value, sorted.
func (o object) with(key string, value node) object {
	return append(slices.Clone(o.without(key)), pair{key, value}).sorted()
}

// without returns o without key.
func (o object) without(key string) object {
	return slices.DeleteFunc(slices.Clone(o), func(p pair) bool { return p.key == key })
}

// sequence joins items.
func sequence(items ...node) node {
	var n node
	for _, item := range items {
		n.lines = append(n.lines, item.lines...)
	}
	return n
}
