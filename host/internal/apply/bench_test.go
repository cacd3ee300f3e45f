package apply_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/internal/apply"
	"github.com/lola-ext/lola/host/root"
)

// waits counts the calls that wait for a disk.
type waits map[root.OpKind]int

func (w waits) hook(op root.Op) error {
	switch op.Kind {
	case root.OpSync, root.OpSyncDir, root.OpSyncAll:
		w[op.Kind]++
	}
	return nil
}

// hooked opens a new directory and a new state folder that has been used before.
func (w waits) hooked(t testing.TB) (r, state *root.Root) {
	t.Helper()
	base := memoryDir(t)
	opened := map[string]*root.Root{}
	for _, name := range []string{"project", "state"} {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := root.OpenHooked(dir, w.hook)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		opened[name] = r
	}
	if err := os.Mkdir(filepath.Join(base, "state", "changes"), 0o755); err != nil {
		t.Fatal(err)
	}
	return opened["project"], opened["state"]
}

// spread is a plan of n files, 20 to a directory.
func spread(n int) []abi.Intent {
	all := make([]abi.Intent, n)
	for i := range all {
		all[i] = abi.Write{Path: fmt.Sprintf("skills/skill-%d/file-%d.md", i/20, i), Mode: 0o644, Content: abi.Bytes(fmt.Sprintf("%1024d", i))}
	}
	return all
}

// TestWaits holds how often a change waits for a disk, which is what a small one costs: once for what lies in each file and
// each directory, and not more than twice for everything where there are many.
func TestWaits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere no call makes everything durable at once")
	}
	for _, tt := range []struct {
		files          int
		file, dir, all int
	}{
		{1, 2, 12, 0}, // the journal and the file
		{10, 11, 12, 0},
		{1000, 1, 4, 2},
	} {
		w := waits{}
		r, state := w.hooked(t)
		if _, err := apply.Run(t.Context(), check(t, r, spread(tt.files)...), apply.Options{State: state}); err != nil {
			t.Fatal(err)
		}
		if w[root.OpSync] != tt.file || w[root.OpSyncDir] != tt.dir || w[root.OpSyncAll] != tt.all {
			t.Errorf("%d files: %d waits for files, %d for directories, %d for everything; want %d, %d, %d", tt.files,
				w[root.OpSync], w[root.OpSyncDir], w[root.OpSyncAll], tt.file, tt.dir, tt.all)
		}
	}
}

// BenchmarkRun applies new files in memory, so that what the transaction itself costs is seen: look at ns/file and at allocated
// bytes. What it costs on a disk, beside other programs, is told by bench/.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			intents, w := spread(n), waits{}
			for b.Loop() {
				b.StopTimer()
				r, state := w.hooked(b)
				clear(w)
				b.StartTimer()
				if _, err := apply.Run(b.Context(), check(b, r, intents...), apply.Options{State: state}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
			b.ReportMetric(float64(w[root.OpSync]+w[root.OpSyncDir]+w[root.OpSyncAll]), "waits")
		})
	}
}
