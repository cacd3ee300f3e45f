//go:build unix

package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/audit"
	"github.com/lola-ext/lola/host/grant"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
	"github.com/lola-ext/lola/targets"
)

// soon fails the test if f does not return within seconds: nothing that is planted holds anybody up.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatalf("%s does not return", what)
	}
}

// must stops the test at the first error.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// planting puts something where the host expects something else. outside is a directory to lead to.
var plantings = map[string]func(at, outside string) error{
	"link to a directory": func(at, outside string) error { return os.Symlink(outside, at) },
	"link to a file":      func(at, outside string) error { return os.Symlink(filepath.Join(outside, "victim"), at) },
	"dangling link":       func(at, outside string) error { return os.Symlink(filepath.Join(outside, "absent"), at) },
	"link to itself":      func(at, _ string) error { return os.Symlink(filepath.Base(at), at) },
	"fifo":                func(at, _ string) error { return syscall.Mkfifo(at, 0o666) },
	"file":                func(at, _ string) error { return os.WriteFile(at, []byte("theirs"), 0o644) },
	"directory":           func(at, _ string) error { return os.MkdirAll(filepath.Join(at, "theirs"), 0o755) },
}

// newOutside is a directory that nothing may touch, and what is in it.
func newOutside(t *testing.T) (dir string, is facts) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "victim"), "victim")
	write(t, filepath.Join(dir, "theirs"), "theirs")
	return dir, factsOf(t, dir, true)
}

func doctor(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.FromSlash("../examples/git-doctor")
	must(t, filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if info, serr := os.Stat(p); err != nil || serr != nil || info.IsDir() {
			return errors.Join(err, serr)
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(src, p)
		write(t, filepath.Join(dir, rel), string(text))
		return nil
	}))
	return dir
}

func everyTarget() (all []host.Builtin, names []string) {
	for _, m := range targets.Manifests() {
		all = append(all, host.Builtin{Manifest: m.YAML, Artifact: targets.Wasm()})
		names = append(names, m.Name)
	}
	return all, names
}

// TestP17PlantedState: a project that ships all the state that a state folder holds, taken from a real one, under every
// name that it could have, gets none of it believed (U05), and keeps it.
func TestP17PlantedState(t *testing.T) {
	builtins, names := everyTarget()
	module, project := doctor(t), t.TempDir()
	home := func(path string) *host.Host {
		h, err := host.New(host.Options{Home: path, Builtins: builtins})
		must(t, err)
		t.Cleanup(func() { h.Close() })
		return h
	}
	// The attacker's own: the module is installed, agreed to for good, and a change of it was interrupted.
	theirs := home(filepath.Join(t.TempDir(), "theirs"))
	p, err := theirs.Install(t.Context(), host.Install{Module: module, Project: project, Targets: names[:1]})
	must(t, err)
	trust := p.Trust()
	must(t, p.Apply(t.Context(), host.Consent{Trust: []grant.Trust{trust}, Remember: true}), p.Close())
	must(t, os.RemoveAll(project), os.Mkdir(project, 0o755)) // the same path, and perhaps the same inode
	stolen := factsOf(t, theirs.Home(), false)
	if len(stolen) < 8 {
		t.Fatalf("the state folder holds %v", stolen)
	}
	for _, as := range []string{".", ".lola", "lola", ".local/share/lola", ".config/lola", ".lola-stage-planted"} {
		must(t, os.MkdirAll(filepath.Join(project, as), 0o755))
		must(t, filepath.WalkDir(theirs.Home(), func(at string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(theirs.Home(), at)
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(at)
			if err == nil {
				to := filepath.Join(project, as, rel)
				write(t, to, string(text))
				if id, ok := strings.CutSuffix(to, ".undo"); ok {
					write(t, id+".journal", string(text))
					write(t, id+".commit", string(text))
				}
			}
			return err
		}))
	}
	for _, name := range []string{"ready", "new/0", "old/0", "out/0", ".gitignore"} {
		write(t, filepath.Join(project, ".lola-stage-planted", name), "planted")
	}
	write(t, filepath.Join(project, "lola.sum"), strings.Replace(trust.String(), "git-doctor@", "module git-doctor 1.0.0 ", 1)+"\n")
	write(t, filepath.Join(project, ".lola-req"), trust.String()+"\n")
	before := factsOf(t, project, true)

	h := home(filepath.Join(t.TempDir(), "mine"))
	if list, err := h.List(project); err != nil || len(list) > 0 {
		t.Errorf("installed: %v, %v", list, err)
	}
	if list, err := h.Undoable(project); err != nil || len(list) > 0 {
		t.Errorf("can be undone: %v, %v", list, err)
	}
	if list, err := h.Unfinished(); err != nil || len(list) > 0 {
		t.Errorf("unfinished: %v, %v", list, err)
	}
	if list, err := h.Recover(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("recovered: %v, %v", list, err)
	}
	if s, err := h.Status(project); err != nil || len(s.Differences)+len(s.Unfinished) > 0 {
		t.Errorf("status: %+v, %v", s, err)
	}
	if _, err := h.Uninstall(t.Context(), host.Uninstall{Module: "git-doctor", Project: project}); !errors.As(err, new(*host.NotInstalledError)) {
		t.Errorf("uninstall: %v, want that it is not installed", err)
	}
	if _, err := h.Undo(t.Context(), host.Undo{Project: project}); err == nil {
		t.Error("something can be undone")
	}
	mine, err := h.Install(t.Context(), host.Install{Module: module, Project: project, Targets: names[:1]})
	must(t, err)
	defer mine.Close()
	if err := mine.Apply(t.Context(), host.Consent{Foreign: true}); !errors.As(err, new(*host.TrustError)) {
		t.Errorf("install: %v, want that consent is needed", err)
	}
	if d := factsOf(t, project, true).differs(before); d != "" {
		t.Errorf("the project changed:%s", d)
	}
	must(t, mine.Apply(t.Context(), host.Consent{Trust: []grant.Trust{trust}}))
	after := factsOf(t, project, true)
	for p, what := range before {
		if p != "." && after[p] != what {
			t.Errorf("%q was %s and is %s", p, what, after[p])
		}
	}
}

// TestPlantedAtEveryPath: whatever a project has at a path that a plan is about, or above one, nothing outside is touched,
// nobody waits for it, and what is no file of the user's that they agreed to overwrite is refused and stays.
func TestPlantedAtEveryPath(t *testing.T) {
	builtins, names := everyTarget()
	module := doctor(t)
	outside, untouched := newOutside(t)
	type spot struct{ target, at, kind string }
	var spots []spot
	h, err := host.New(host.Options{Home: filepath.Join(t.TempDir(), "home"), Builtins: builtins})
	must(t, err)
	defer h.Close()
	install := func(project, target string) error {
		p, err := h.Install(t.Context(), host.Install{Module: module, Project: project, Targets: []string{target}})
		if err != nil {
			return err
		}
		defer p.Close()
		return p.Apply(t.Context(), host.Consent{Foreign: true, Trust: []grant.Trust{p.Trust()}})
	}
	for _, target := range names {
		p, err := h.Install(t.Context(), host.Install{Module: module, Project: t.TempDir(), Targets: []string{target}})
		must(t, err)
		seen := map[string]bool{}
		for _, f := range p.Report().Files {
			for at := f.Path; at != "."; at = path.Dir(at) {
				for kind := range plantings {
					if kind == "file" && at == f.Path || kind == "directory" && at != f.Path || seen[at+kind] {
						continue // as it may well be
					}
					seen[at+kind] = true
					spots = append(spots, spot{target, at, kind})
				}
			}
		}
		must(t, p.Close())
	}
	total := len(spots)
	rand.Shuffle(total, func(i, j int) { spots[i], spots[j] = spots[j], spots[i] })
	if !exhaustive() {
		spots = spots[:40]
	}
	for _, s := range spots {
		t.Run(s.kind+" at "+s.at, func(t *testing.T) {
			project := t.TempDir()
			write(t, filepath.Join(project, "mine"), "mine")
			at := filepath.Join(project, filepath.FromSlash(s.at))
			must(t, os.MkdirAll(filepath.Dir(at), 0o755), plantings[s.kind](at, outside))
			before := factsOf(t, project, true)
			soon(t, "installing", func() {
				var refused *plan.RefusedError
				if err := install(project, s.target); !errors.As(err, &refused) {
					t.Errorf("install: %v, want a refusal", err)
				}
			})
			if d := factsOf(t, project, true).differs(before); d != "" {
				t.Errorf("the project changed:%s", d)
			}
			// The same when it is installed: the file, or the directory with all in it, is replaced.
			must(t, os.RemoveAll(at))
			must(t, install(project, s.target))
			must(t, os.RemoveAll(at), plantings[s.kind](at, outside))
			before = factsOf(t, project, true)
			soon(t, "looking", func() {
				if st, err := h.Status(project); err != nil || len(st.Differences) == 0 {
					t.Errorf("status: %+v, %v, want that it differs", st, err)
				}
				if p, err := h.Undo(t.Context(), host.Undo{Project: project}); err == nil {
					if err = p.Apply(t.Context(), host.Consent{Foreign: true}); err == nil {
						t.Error("what was replaced is undone")
					}
					p.Close()
				}
				_ = install(project, s.target) // it may be refused, and may not block
			})
			if d := factsOf(t, project, true).differs(before); d != "" && s.kind != "directory" {
				t.Errorf("the project changed:%s", d)
			}
			planted := factsOf(t, project, false)[filepath.FromSlash(s.at)]
			soon(t, "uninstalling", func() {
				p, err := h.Uninstall(t.Context(), host.Uninstall{Module: "git-doctor", Project: project})
				if err != nil {
					return
				}
				defer p.Close()
				if err := p.Apply(t.Context(), host.Consent{Foreign: true}); err != nil {
					t.Errorf("uninstall: %v", err)
				}
			})
			if now := factsOf(t, project, false)[filepath.FromSlash(s.at)]; now != planted {
				t.Errorf("what was planted is %q and was %q", now, planted)
			}
		})
	}
	if d := factsOf(t, outside, true).differs(untouched); d != "" {
		t.Errorf("outside changed:%s", d)
	}
	t.Logf("%d of %d", len(spots), total)
}

// journal is one as the host writes it: a line of JSON and its digest.
func journal(text string) string {
	sum := sha256.Sum256([]byte(text))
	return text + "\n" + hex.EncodeToString(sum[:]) + "\n"
}

func inode(t *testing.T, path string) string {
	t.Helper()
	var st syscall.Stat_t
	must(t, syscall.Stat(path, &st))
	return fmt.Sprint(st.Ino)
}

// TestP25PlantedInHome: whatever lies in the state folder where something of the host's should be, every command answers, and
// nothing outside is touched; one that changes something does all of it or says why not.
func TestP25PlantedInHome(t *testing.T) {
	outside, _ := newOutside(t)
	const id = "20260101-000000-aaaaaaaaaaaaaaaaaaaa"
	must(t, os.Mkdir(filepath.Join(outside, "root"), 0o755))
	// A staging directory lies ready where the forged journals lead, so that only what they say keeps the host from it. It
	// is what a journal is believed about: the state folder is the user's own.
	forge := func() facts {
		for _, name := range []string{"ready", "new/1", "old/0", "old/1"} {
			write(t, filepath.Join(outside, "root", ".lola-stage-"+id, name), "victim")
		}
		write(t, filepath.Join(outside, "root", "mine"), "victim")
		write(t, filepath.Join(outside, "empty", "not"), "victim")
		must(t, os.Remove(filepath.Join(outside, "empty", "not")), os.Chtimes(filepath.Join(outside, "root"), time.Time{}, time.Unix(1e9, 0)), os.Chtimes(filepath.Join(outside, "empty"), time.Time{}, time.Unix(1e9, 0)))
		return factsOf(t, outside, true)
	}
	untouched := forge()
	victim := sha256.Sum256([]byte("victim"))
	node := map[string]any{"mode": 0o644, "size": 6, "sha256": hex.EncodeToString(victim[:])}
	forged := func(change func(j map[string]any)) string {
		j := map[string]any{
			"format": 1, "id": id, "time": "2026-01-01T00:00:00Z", "root": filepath.Join(outside, "root"), "identity": inode(t, filepath.Join(outside, "root")),
			"staging": ".lola-stage-" + id, "moves": []any{},
		}
		change(j)
		text, err := json.Marshal(j)
		must(t, err)
		return journal(string(text))
	}
	moves := func(all ...any) string { return forged(func(j map[string]any) { j["moves"] = all }) }
	texts := map[string]string{
		"of another directory":   forged(func(j map[string]any) { j["identity"] = "1" }),
		"of no directory":        forged(func(j map[string]any) { j["root"] = filepath.Join(outside, "absent") }),
		"of a file":              forged(func(j map[string]any) { j["root"] = filepath.Join(outside, "victim") }),
		"of a relative root":     forged(func(j map[string]any) { j["root"] = "." }),
		"of no root":             forged(func(j map[string]any) { j["root"] = "" }),
		"that puts above":        moves(map[string]any{"kind": "put", "path": "../victim", "after": node}),
		"that puts far":          moves(map[string]any{"kind": "put", "path": "a/../../../victim", "after": node}),
		"that puts absolutely":   moves(map[string]any{"kind": "put", "path": filepath.Join(outside, "victim"), "after": node}),
		"that removes above":     moves(map[string]any{"kind": "remove", "path": "../gone", "before": node}),
		"that swaps above":       moves(map[string]any{"kind": "remove", "path": "mine", "before": node}, map[string]any{"kind": "swap", "path": "../victim", "before": node, "after": node}),
		"that renames above":     moves(map[string]any{"kind": "rename", "path": "../a", "to": "../victim", "before": node}),
		"that puts a tree above": moves(map[string]any{"kind": "put", "path": "d", "after": map[string]any{"dir": true, "mode": 0o755, "tree": []any{map[string]any{"path": "../../victim", "mode": 0o644, "size": 6, "sha256": hex.EncodeToString(victim[:])}}}}),
		"that prunes above": forged(func(j map[string]any) {
			j["prune"] = []any{map[string]any{"path": "../empty", "dir": true, "mode": 0o755}}
		}),
		"that is staged above":       forged(func(j map[string]any) { j["staging"] = "../" + ".lola-stage-" + id }),
		"that is staged elsewhere":   forged(func(j map[string]any) { j["staging"] = "mine" }),
		"that undoes a path":         forged(func(j map[string]any) { j["undoes"] = "../../victim" }),
		"without meaning":            moves(map[string]any{"kind": "put", "path": "a"}, map[string]any{"kind": "burn", "path": "a"}),
		"of a later form":            forged(func(j map[string]any) { j["format"] = 2 }),
		"with another id":            forged(func(j map[string]any) { j["id"] = "20260101-000000-bbbbbbbbbbbbbbbbbbbb" }),
		"that is no JSON":            journal("{"),
		"with old contents far away": moves(map[string]any{"kind": "remove", "path": "a", "before": map[string]any{"mode": 0o644, "size": int64(1) << 62, "at": 1, "sha256": hex.EncodeToString(victim[:])}}),
	}
	type trap struct {
		name string
		set  func(t *testing.T, home string)
	}
	var traps []trap
	for _, at := range []string{
		"lock", "changes", "changes/" + id + ".journal", "changes/" + id + ".commit", "changes/" + id + ".undo", "changes/" + id + ".aside", "changes/" + id + ".over", "installed", "installed/KEY", "roots", "roots/KEY",
		"consents.json", "plans.json", "audit", "audit/lock", "audit/audit-00000001.jsonl", "tmp", "installed/KEY.new", "consents.json.new", "plans.json.new",
	} {
		for kind, plant := range plantings {
			traps = append(traps, trap{kind + " as " + at, func(t *testing.T, home string) {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, at)), 0o700), plant(filepath.Join(home, at), outside))
			}})
		}
	}
	for name, text := range texts {
		for _, state := range []string{".journal", ".commit", ".undo", ".aside", ".over"} {
			traps = append(traps, trap{"a " + state + " " + name, func(t *testing.T, home string) {
				must(t, os.Mkdir(filepath.Join(home, "changes"), 0o700), os.WriteFile(filepath.Join(home, "changes", id+state), []byte(text), 0o600))
			}})
		}
	}
	traps = append(traps, trap{"an endless journal", func(t *testing.T, home string) {
		at := filepath.Join(home, "changes", id+".journal")
		must(t, os.Mkdir(filepath.Join(home, "changes"), 0o700), os.WriteFile(at, nil, 0o600), os.Truncate(at, 1<<36))
	}}, trap{"an endless record", func(t *testing.T, home string) {
		at := filepath.Join(home, "consents.json")
		must(t, os.WriteFile(at, nil, 0o600), os.Truncate(at, 1<<36))
	}})
	total := len(traps)
	rand.Shuffle(total, func(i, j int) { traps[i], traps[j] = traps[j], traps[i] })
	if !exhaustive() {
		traps = traps[:60]
	}
	guest := answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")})
	went, failed := 0, 0
	for _, tr := range traps {
		t.Run(tr.name, func(t *testing.T) {
			module, project, home := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "home")
			write(t, filepath.Join(module, "skills", "s", "SKILL.md"), "text\n")
			write(t, filepath.Join(project, "mine"), "mine")
			must(t, os.Mkdir(home, 0o700))
			tr.set(t, home)
			key := sha256.Sum256([]byte(project + "\x00" + inode(t, project)))
			for _, dir := range []string{"installed", "roots"} { // the name that a record of this project has
				for _, end := range []string{"", ".new"} {
					_ = os.Rename(filepath.Join(home, dir, "KEY"+end), filepath.Join(home, dir, hex.EncodeToString(key[:16])+".json"+end))
				}
			}
			soon(t, "a command", func() {
				h, err := host.New(host.Options{Home: home, Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: guest}}})
				if err != nil {
					failed++
					return
				}
				defer h.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				_, _ = h.Status(project)
				_, _ = h.Undoable(project)
				s := &scene{host: h, module: module, project: project}
				p, err := h.Install(ctx, host.Install{Module: module, Project: project, Targets: []string{"guest"}, AllowRoot: true})
				if err == nil {
					err = p.Apply(ctx, host.Consent{Remember: true})
					p.Close()
				}
				now := tree(t, s.project)
				switch {
				case err == nil && now == ".guest .guest/a amine mine":
					went++
				case err != nil && now == "mine mine":
					failed++
				case errors.As(err, new(*host.UnfinishedError)) && strings.HasPrefix(now, ".guest .guest/a a") && strings.HasSuffix(now, "mine mine"):
					failed++ // it is made; what is staged goes when it can be recorded
				default:
					t.Errorf("install: %v, and the project is %q", err, now)
				}
				_, _ = h.Recover(ctx)
				_, _ = h.List(project)
				if p, err := h.Undo(ctx, host.Undo{Project: project}); err == nil {
					_ = p.Apply(ctx, host.Consent{})
					p.Close()
				}
				if p, err := h.Undo(ctx, host.Undo{Project: project, ID: id}); err == nil {
					_ = p.Apply(ctx, host.Consent{})
					p.Close()
				}
				_, _ = h.Log().Verify(ctx, audit.VerifyOptions{})
				if text, err := os.ReadFile(filepath.Join(project, "mine")); string(text) != "mine" {
					t.Errorf("the user's file is %q, %v", text, err)
				}
			})
			staging := filepath.Join("root", ".lola-stage-"+id)
			must(t, os.Chtimes(filepath.Join(outside, "root"), time.Time{}, time.Unix(1e9, 0)))
			if d := factsOf(t, outside, true).differs(untouched, staging); d != "" {
				t.Errorf("outside changed:%s", d)
			}
			untouched = forge()
		})
	}
	t.Logf("%d of %d: %d installs went well, %d did not", len(traps), total, went, failed)
}

// TestP25OtherOwner: a state folder of another user's is refused, also by root; a project of another user's, or one that
// everybody may write to, needs a word, which is remembered for that directory alone.
func TestP25OtherOwner(t *testing.T) {
	wasm := answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("a")})
	ways := map[string]func(dir string) error{"writable for all": func(dir string) error { return os.Chmod(dir, 0o777) }}
	if os.Geteuid() == 0 && os.Chown(t.TempDir(), 65534, 65534) == nil { // in a user namespace of one user there is no other
		ways["another user's"] = func(dir string) error { return os.Chown(dir, 65534, 65534) }
		home := filepath.Join(t.TempDir(), "home")
		must(t, os.Mkdir(home, 0o700), os.Chown(home, 65534, 65534))
		if h, err := host.New(host.Options{Home: home}); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("a state folder of another user's: %v, %v", h, err)
		}
		if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
			t.Errorf("it holds %v, %v", left, err)
		}
	}
	for name, way := range ways {
		s := newScene(t, wasm, abi.Limits{})
		must(t, way(s.project))
		before := factsOf(t, s.project, true)
		in := host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}}
		var owner *root.OwnerError
		for _, in.DryRun = range []bool{true, false} {
			if _, err := s.host.Install(t.Context(), in); !errors.As(err, &owner) {
				t.Errorf("%s: %v, want that it is not the user's alone", name, err)
			}
		}
		if _, err := s.host.Undo(t.Context(), host.Undo{Project: s.project}); !errors.As(err, &owner) {
			t.Errorf("%s: undo: %v", name, err)
		}
		if _, err := s.host.Uninstall(t.Context(), host.Uninstall{Module: "m", Project: s.project}); !errors.As(err, &owner) {
			t.Errorf("%s: uninstall: %v", name, err)
		}
		in.AllowRoot = true
		p, err := s.host.Install(t.Context(), in)
		must(t, err, p.Close()) // looked at, and not agreed to
		in.AllowRoot = false
		if _, err := s.host.Install(t.Context(), in); !errors.As(err, &owner) {
			t.Errorf("%s: a look is remembered as a word: %v", name, err)
		}
		if d := factsOf(t, s.project, true).differs(before); d != "" {
			t.Errorf("%s: the project changed:%s", name, d)
		}
		in.AllowRoot = true
		p, err = s.host.Install(t.Context(), in)
		must(t, err, p.Apply(t.Context(), host.Consent{}), p.Close())
		in.AllowRoot = false
		p, err = s.host.Install(t.Context(), in)
		must(t, err, p.Close())
		other := t.TempDir()
		must(t, way(other))
		in.Project = other
		if _, err := s.host.Install(t.Context(), in); !errors.As(err, &owner) {
			t.Errorf("%s: the word holds for another directory: %v", name, err)
		}
	}
}

// TestP22Overlap: a project that is the state folder, holds it or lies in it is refused by whatever name; so is a plan that
// would reach this program by another name of it.
func TestP22Overlap(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/bin", Mode: 0o755, Content: abi.Bytes("evil")}), abi.Limits{})
	home := s.host.Home()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(home, link), os.MkdirAll(filepath.Join(home, "sub"), 0o700))
	before := factsOf(t, home, false)
	for _, project := range []string{home, filepath.Dir(home), filepath.Join(home, "sub"), filepath.Join(home, "tmp"), link, filepath.Join(link, "sub"), "/"} {
		if p, err := s.host.Install(t.Context(), host.Install{Module: s.module, Project: project, Targets: []string{"guest"}, AllowRoot: true}); err == nil || !strings.Contains(err.Error(), "state folder") {
			t.Errorf("%q: %v, %v, want a refusal", project, p, err)
		}
	}
	if d := factsOf(t, home, false).differs(before); d != "" {
		t.Errorf("the state folder changed:%s", d)
	}

	program, err := os.Executable()
	must(t, err)
	text, err := os.ReadFile(program)
	must(t, err)
	copied := filepath.Join(t.TempDir(), "program") // a link to the real one may not be possible from here
	must(t, os.WriteFile(copied, text, 0o755))
	h, err := host.New(host.Options{
		Home: filepath.Join(t.TempDir(), "home"), Program: copied,
		Builtins: []host.Builtin{{Manifest: []byte(guestManifest), Artifact: answering(t, abi.Write{Path: ".guest/bin", Mode: 0o755, Content: abi.Bytes("evil")})}},
	})
	must(t, err)
	defer h.Close()
	must(t, os.Mkdir(filepath.Join(s.project, ".guest"), 0o755), os.Link(copied, filepath.Join(s.project, ".guest", "bin")))
	_, err = h.Install(t.Context(), host.Install{Module: s.module, Project: s.project, Targets: []string{"guest"}})
	wantRule(t, err, plan.RuleProtected)
	if now, err := os.ReadFile(copied); err != nil || !slices.Equal(now, text) {
		t.Errorf("the program changed: %v", err)
	}
}

// wantRule wants a plan refused by a rule.
func wantRule(t *testing.T, err error, rule string) {
	t.Helper()
	var refused *plan.RefusedError
	if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Findings, func(f plan.Finding) bool { return f.Rule == rule }) {
		t.Errorf("got %v, want rule %s", err, rule)
	}
}
