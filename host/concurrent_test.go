package host_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host"
	"github.com/lola-ext/lola/host/internal/apply"
)

// TestIDsSortByTime: what was done last is undone first, also when much is done within a second.
func TestIDsSortByTime(t *testing.T) {
	var ids []string
	for range 10_000 {
		ids = append(ids, apply.NewID())
	}
	seconds := map[string]bool{}
	for i, id := range ids {
		seconds[id[:15]] = true
		if i > 0 && id[:25] < ids[i-1][:25] { // what follows is by chance
			t.Fatalf("%q comes after %q", id, ids[i-1])
		}
	}
	if len(seconds) == len(ids) {
		t.Error("no two are of one second")
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 10_000 {
		t.Errorf("%d of 10,000 are different", n)
	}
}

// TestOneHostManyChanges: a host may be used concurrently. Each change is made once and recorded; one that another was
// quicker than says so, touches nothing and goes through when it is tried again.
func TestOneHostManyChanges(t *testing.T) {
	const n = 6
	var builtins []host.Builtin
	for i := range n {
		manifest := strings.Replace(guestManifest, "name: guest", fmt.Sprintf("name: guest%d", i), 1)
		wasm := answering(t, abi.Write{Path: fmt.Sprintf(".guest/%d/file", i), Mode: 0o644, Content: abi.Bytes(fmt.Sprint(i))})
		builtins = append(builtins, host.Builtin{Manifest: []byte(manifest), Artifact: wasm})
	}
	h, err := host.New(host.Options{Home: filepath.Join(t.TempDir(), "home"), Builtins: builtins})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s := &scene{host: h, project: t.TempDir()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var again int // guarded by mu
	for i := range n {
		module := filepath.Join(t.TempDir(), fmt.Sprintf("m%d", i/2)) // two at a time have one module
		write(t, filepath.Join(module, "skills", "s", "SKILL.md"), "text\n")
		wg.Go(func() {
			for range 100 {
				p, err := h.Install(t.Context(), host.Install{Module: module, Project: s.project, Targets: []string{fmt.Sprintf("guest%d", i)}})
				if err == nil {
					err = p.Apply(t.Context(), host.Consent{})
					p.Close()
				}
				if err == nil {
					return
				}
				if !errors.As(err, new(*host.StaleError)) && !strings.Contains(err.Error(), "run this one again") {
					t.Error(err)
					return
				}
				mu.Lock()
				again++
				mu.Unlock()
			}
			t.Errorf("%d: it was never its turn", i)
		})
	}
	wg.Wait()
	list, err := h.List(s.project)
	if err != nil || len(list) != n {
		t.Errorf("installed: %+v, %v", list, err)
	}
	if st, err := h.Status(s.project); err != nil || len(st.Differences) > 0 {
		t.Errorf("status: %+v, %v", st, err)
	}
	s.quiet(t)
	t.Logf("%d were tried again", again)
}
