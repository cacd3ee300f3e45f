// Gen writes the conformance vectors of package abitest. It has no flags and takes the directory to write to, testdata by
// default, whose files it replaces:
//
//	go run ./abi/abitest/gen abi/abitest/testdata
//
// It uses no codec of ours, so that a fault there cannot hide here. A vector is a row in cases.go or json.go, or follows from a
// row in shapes.go. A test compares the committed files with what it makes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const valid = "valid"

// A vector is one file to be.
type vector struct {
	name, expect, sized, form, subject, sameAs, comment string
	respell                                             bool
	limits                                              []string
	body                                                node   // form cbor
	text                                                string // form json
}

// file returns the vector as its file holds it.
func (v vector) file() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	line("expect", v.expect)
	line("sized", v.sized)
	line("form", v.form)
	line("subject", v.subject)
	line("same-as", v.sameAs)
	if v.respell {
		line("respell", "true")
	}
	for _, l := range v.limits {
		line("limit", l)
	}
	line("comment", v.comment)
	b.WriteByte('\n')
	if v.form == "json" {
		b.WriteString(v.text)
		return b.String()
	}
	for _, l := range v.body.lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// vectors returns all files by name. Two vectors of one name are an error.
func vectors() (map[string]string, error) {
	files := map[string]string{}
	for _, list := range [][]vector{shapeVectors(), formVectors(), valueVectors(), limitVectors(), requestVectors(), jsonVectors()} {
		for _, v := range list {
			if _, dup := files[v.name]; dup {
				return nil, fmt.Errorf("make vector %q: the name is taken", v.name)
			}
			files[v.name] = v.file()
		}
	}
	return files, nil
}

func run(dir string) error {
	files, err := vectors()
	if err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if _, keep := files[e.Name()]; !keep {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	dir := "testdata"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen: write vectors:", err)
		os.Exit(1)
	}
}
