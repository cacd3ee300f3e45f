package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/plan"
	"github.com/lola-ext/lola/host/root"
)

// TestRootIsBack: a change was interrupted, its root was gone when it was looked for, and is back: the next change takes it
// back before it begins.
func TestRootIsBack(t *testing.T) {
	s, hook := hooked(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("new")}, abi.Write{Path: ".guest/b", Mode: 0o644, Content: abi.Bytes("new")}))
	write(t, filepath.Join(s.project, ".guest", "a"), "old")
	before := tree(t, s.project)
	dead := false
	hook(func(op root.Op) error {
		if dead = dead || op.Kind == root.OpMove; dead {
			return errors.New("the process is dead")
		}
		return nil
	})
	if err := s.agreeing(t); err == nil || !dead || tree(t, s.project) == before {
		t.Fatalf("it is not half made: %v", err)
	}
	hook(nil)
	away := s.project + "-away"
	if err := os.Rename(s.project, away); err != nil {
		t.Fatal(err)
	}
	if list, err := s.host.Recover(t.Context()); err != nil || len(list) != 1 || list[0].Problem == "" {
		t.Fatalf("recovered: %+v, %v", list, err)
	}
	if err := os.Rename(away, s.project); err != nil {
		t.Fatal(err)
	}
	p := s.propose(t)
	if said := strings.Join(p.Report().Notices, "\n"); !strings.Contains(said, "was taken back") {
		t.Errorf("it says %q", said)
	}
	if got := tree(t, s.project); got != before {
		t.Errorf("the project was %s, is %s", before, got)
	}
}

// TestKilledSpools: what a killed process left behind a day ago goes with the next change; what is younger may be in use.
func TestKilledSpools(t *testing.T) {
	s := newScene(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("new")}), abi.Limits{})
	spools := filepath.Join(s.host.Home(), "tmp")
	write(t, filepath.Join(spools, "lola-spool-1"), "old")
	write(t, filepath.Join(spools, "lola-spool-2"), "young")
	dayAgo := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(filepath.Join(spools, "lola-spool-1"), dayAgo, dayAgo); err != nil {
		t.Fatal(err)
	}
	if err := s.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, spools); got != "lola-spool-2 young" {
		t.Errorf("in the folder for spools: %q, want the young one alone", got)
	}
}

// TestRecoveredLitter: a staging directory that stays although recovery made the change is named.
func TestRecoveredLitter(t *testing.T) {
	s, hook := hooked(t, answering(t, abi.Write{Path: ".guest/a", Mode: 0o644, Content: abi.Bytes("new")}))
	committed := false
	hook(func(op root.Op) error {
		if committed {
			return errors.New("the process is dead")
		}
		committed = op.Kind == root.OpRename && strings.HasSuffix(op.To, ".commit")
		return nil
	})
	if err := s.agreeing(t); err == nil || !committed {
		t.Fatalf("it is not half made: %v", err)
	}
	hook(func(op root.Op) error {
		if op.Kind == root.OpRmdir && strings.HasPrefix(op.Path, plan.StagingPrefix) {
			return errors.New("somebody sits in it")
		}
		return nil
	})
	list, err := s.host.Recover(t.Context())
	if err != nil || len(list) != 1 || !list[0].Finished || list[0].Problem != "" {
		t.Fatalf("recovered: %+v, %v", list, err)
	}
	if said := list[0].Litter; !strings.Contains(said, plan.StagingPrefix) || !strings.Contains(said, "remove that directory yourself") {
		t.Errorf("it says %q", said)
	}
}
