package host_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/shim/shimtest/wasmbuild"
)

// answering returns an extension that proposes the intents.
func answering(t testing.TB, intents ...abi.Intent) []byte {
	t.Helper()
	return wasmbuild.Reactor(wasmbuild.Parts{Plan: encode(t, intents...)})
}

// beside is a second scene with the first one's state folder and project, another module and another extension.
func (s *scene) beside(t *testing.T, wasm []byte) *scene {
	t.Helper()
	other := &scene{module: t.TempDir(), project: s.project}
	write(t, filepath.Join(other.module, "skills", "s", "SKILL.md"), "text\n")
	h, err := host.New(host.Options{Home: s.host.Home(), Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: wasm}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	other.host = h
	return other
}

func (s *scene) propose(t *testing.T) *host.Pending {
	t.Helper()
	p, err := s.host.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// An extension may propose to remove what the user has where it may write; it takes the user's consent, as overwriting does.
func TestRemovalNeedsConsent(t *testing.T) {
	s := newScene(t, answering(t, abi.Delete{Path: ".guest/mine"}), abi.Limits{})
	mine := filepath.Join(s.project, ".guest", "mine")
	write(t, mine, "mine")
	p := s.propose(t)
	if files := p.Report().Files; len(files) != 1 || len(files[0].Foreign) == 0 {
		t.Errorf("the report does not mark it: %+v", files)
	}
	var foreign *host.ForeignError
	if err := p.Apply(t.Context(), host.Consent{}); !errors.As(err, &foreign) {
		t.Errorf("got %v, want that consent is needed", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), host.Consent{Foreign: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("it is still there")
	}
}

// What another module installed is not removed for one, whatever the user consents to (M01).
func TestRemovalOfAnotherModules(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/ok", Mode: 0o644, Content: abi.Bytes("x")}), abi.Limits{})
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := s.beside(t, answering(t, abi.Delete{Path: ".guest/ok"})).install(t.Context())
	var owned *host.OwnedError
	if !errors.As(err, &owned) || !strings.Contains(err.Error(), `would remove ".guest/ok"`) {
		t.Errorf("got %v, want that another module owns it", err)
	}
}

// Files look foreign to a change that was judged before another command recorded them. It is told to look again and not that
// they are the user's.
func TestForeignOrMeanwhile(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("new")}), abi.Limits{})
	write(t, filepath.Join(s.project, ".guest", "a"), "old")
	p := s.propose(t)
	if err := s.beside(t, answering(t, abi.Write{Path: ".guest/b", Mode: 0o644, Content: abi.Bytes("x")})).install(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := p.Apply(t.Context(), host.Consent{})
	if foreign := (*host.ForeignError)(nil); err == nil || errors.As(err, &foreign) || !strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("got %v, want that another command changed what is installed", err)
	}
}

// A file that cannot be looked at may be as it was installed: the record is not to forget it.
func TestUninstallOfWhatCannotBeSeen(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/seen", Mode: 0o644, Content: abi.Bytes("x")}), abi.Limits{})
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	records, _ := filepath.Glob(filepath.Join(s.host.Home(), "installed", "*.json"))
	if len(records) != 1 {
		t.Fatalf("records: %v", records)
	}
	text, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	// A path that package root does not look at stands for a folder without permission, which would not hold up root.
	write(t, records[0], string(bytes.Replace(text, []byte(".guest/seen"), []byte(".guest/../seen"), 1)))
	list, err := s.host.List(s.project)
	if err != nil || len(list) != 1 {
		t.Fatalf("installed: %v, %v", list, err)
	}
	if _, err := s.host.Uninstall(t.Context(), host.Uninstall{Module: list[0].Module, Project: s.project}); err == nil || !strings.Contains(err.Error(), "looking at") {
		t.Errorf("got %v, want that it cannot be looked at", err)
	}
}

// What a plan puts into a folder that it deletes is the module's, and goes with it.
func TestOwnedInAnExchange(t *testing.T) {
	s := newScene(t, answering(t, abi.Delete{Path: ".guest/d"}, abi.Write{Path: ".guest/d/new", Mode: 0o644, Content: abi.Bytes("new")}), abi.Limits{})
	write(t, filepath.Join(s.project, ".guest", "d", "old"), "old")
	p := s.propose(t)
	if err := p.Apply(t.Context(), host.Consent{Foreign: true}); err != nil {
		t.Fatal(err)
	}
	u, err := s.host.Uninstall(t.Context(), host.Uninstall{Module: p.Report().Module, Project: s.project})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Apply(t.Context(), host.Consent{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.project, ".guest", "d", "new")); err == nil {
		t.Error("it stays behind")
	}
}

// What a module moves does not come to where another one's file belongs, though that is gone at the moment (M01).
func TestMoveToAnotherModules(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/to/a", Mode: 0o644, Content: abi.Bytes("x")}), abi.Limits{})
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.project, ".guest", "to")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.project, ".guest", "from", "a"), "mine")
	for _, in := range []abi.Intent{abi.Rename{From: ".guest/from/a", To: ".guest/to/a"}, abi.Rename{From: ".guest/from", To: ".guest/to"}} {
		other := s.beside(t, answering(t, in))
		_, err := other.host.Install(t.Context(), host.Install{Module: other.module, Project: other.project, Targets: []string{"guest"}})
		if owned := (*host.OwnedError)(nil); !errors.As(err, &owned) {
			t.Errorf("%+v: got %v, want that another module owns it", in, err)
		}
	}
}
