package host_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim/policy"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
	"github.com/lola-ext/lola/targets"
)

// A program that asks one extension often, and is only interested in what it would do.
func ExampleHost_Warm() {
	home, err := os.MkdirTemp("", "lola-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	options := host.Options{Home: home}
	for _, t := range targets.Manifests() {
		options.Builtins = append(options.Builtins, host.Builtin{Manifest: t.YAML, Artifact: targets.Wasm()})
	}
	h, err := host.New(options)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	warm, err := h.Warm("cursor", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer warm.Close()

	for _, name := range []string{"hello", "bye"} {
		text := []byte("Say " + name + ".\n")
		plan, err := warm.Ask(context.Background(), abi.Request{
			Action: "install",
			Module: &abi.Module{
				Identity: abi.Identity{Name: "greetings", Version: "1.0.0"},
				Files:    []abi.File{{Path: "commands/" + name + ".md", Mode: 0o644, Size: int64(len(text)), Digest: abi.DigestOf(text), Content: text}},
			},
		})
		if err != nil {
			log.Fatal(err)
		}
		for _, in := range plan.Intents {
			if w, ok := in.(abi.Write); ok {
				fmt.Println(w.Path)
			}
		}
	}
	// Output:
	// .cursor/commands/hello.md
	// .cursor/commands/bye.md
}

func TestWarmRefuses(t *testing.T) {
	s := newScene(t, wasmbuild.Reactor(wasmbuild.Parts{Run: wasmbuild.Unreachable()}), abi.Limits{})
	var unknown *host.UnknownExtensionError
	if _, err := s.host.Warm("nobody", 1); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
	if _, err := s.host.Warm("guest", 0); err == nil {
		t.Error("no children at all")
	}
	w, err := s.host.Warm("guest", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Ask(t.Context(), abi.Request{Action: "search"}); err == nil {
		t.Error("an action that it does not have")
	}
	var failed *host.ExtensionError
	if _, err := w.Ask(t.Context(), abi.Request{Action: "install"}); !errors.As(err, &failed) || failed.Class != "trap" {
		t.Errorf("got %v", err)
	}
}

// TestRequireConfinement: below the level that is required no extension runs; at the level that there is, it does.
func TestRequireConfinement(t *testing.T) {
	install := func(level policy.Level) (host.Report, error) {
		dir := t.TempDir()
		module, project := filepath.Join(dir, "module"), filepath.Join(dir, "project")
		write(t, filepath.Join(module, "skills", "s", "SKILL.md"), "text\n")
		write(t, filepath.Join(project, "mine"), "mine\n")
		h, err := host.New(host.Options{
			Home: filepath.Join(dir, "home"), RequireConfinement: level,
			Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: wasmbuild.Reactor(wasmbuild.Parts{})}},
		})
		if err != nil {
			return host.Report{}, err
		}
		defer h.Close()
		p, err := h.Install(t.Context(), host.Install{Module: module, Project: project, Targets: []string{"guest"}})
		if err != nil {
			return host.Report{}, err
		}
		defer p.Close()
		return p.Report(), nil
	}
	report, err := install("")
	if err != nil {
		t.Fatal(err)
	}
	got := policy.Level(report.Level)
	for _, want := range policy.Levels() {
		report, err := install(want)
		if got.AtLeast(want) {
			if err != nil || policy.Level(report.Level) != got {
				t.Errorf("%s: got %+v, %v", want, report, err)
			}
			continue
		}
		var failed *host.ExtensionError
		if !errors.As(err, &failed) || failed.Class != "level" {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if _, err := install("very"); err == nil {
		t.Error("a level that is none")
	}
}
