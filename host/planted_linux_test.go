package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/plan"
)

// TestP22BindMount: a state folder that has another name within the project, by a bind mount of it, of a folder above it or
// of one in it, is not reached by that name.
func TestP22BindMount(t *testing.T) {
	for _, name := range []string{"itself", "above", "within"} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			home := filepath.Join(base, "data", "lola")
			write(t, filepath.Join(base, "data", "theirs"), "theirs")
			mount, intents := filepath.Join(base, "data"), []abi.Intent{
				abi.Write{Path: ".guest/m/lola/consents.json", Mode: 0o644, Content: abi.Bytes("{}")}, abi.Delete{Path: ".guest/m/lola/installed"},
			}
			switch name {
			case "itself":
				mount = home
				intents = []abi.Intent{
					abi.Write{Path: ".guest/m/consents.json", Mode: 0o644, Content: abi.Bytes("{}")}, abi.Delete{Path: ".guest/m/installed"}, abi.Rename{From: ".guest/m/audit", To: ".guest/n"},
				}
			case "within":
				mount = filepath.Join(home, "installed")
				intents = []abi.Intent{abi.Write{Path: ".guest/m/evil.json", Mode: 0o644, Content: abi.Bytes("{}")}}
			}
			s := &scene{module: t.TempDir(), project: t.TempDir()}
			write(t, filepath.Join(s.module, "skills", "s", "SKILL.md"), "text\n")
			for _, in := range intents {
				h, err := host.New(host.Options{Home: home, Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: answering(t, in)}}})
				must(t, err)
				s.host = h
				at := filepath.Join(s.project, ".guest", "m")
				must(t, os.MkdirAll(at, 0o755), os.MkdirAll(filepath.Join(home, "installed"), 0o700), os.MkdirAll(filepath.Join(home, "audit"), 0o700))
				if err := unix.Mount(mount, at, "", unix.MS_BIND, ""); errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
					h.Close()
					t.Skip("this user may not mount")
				} else if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
				before := factsOf(t, home, false)
				err = s.install(t.Context())
				if name == "within" { // another file system, as far as a rename is concerned
					if err == nil {
						t.Errorf("%+v went well", in)
					}
				} else {
					wantRule(t, err, plan.RuleProtected)
				}
				after := factsOf(t, home, false)
				for p, what := range before {
					if filepath.Dir(p) != "audit" && after[p] != what {
						t.Errorf("%q was %s and is %s", p, what, after[p])
					}
				}
				if _, err := os.Lstat(filepath.Join(home, "installed", "evil.json")); err == nil {
					t.Error("a record was planted")
				}
				must(t, unix.Unmount(at, unix.MNT_DETACH), h.Close())
			}
		})
	}
}
