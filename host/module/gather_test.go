package module

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/root"
)

// TestGatherBounds: one file too many is an error, and so are too many entries that are no files.
func TestGatherBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		if err := os.MkdirAll(filepath.Join(dir, "skills", fmt.Sprint("d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "skills", fmt.Sprint("f", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := root.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, tt := range []struct {
		files, entries int
		limit          string
	}{{4, 9, ""}, {3, 9, "module files"}, {0, 9, "module files"}, {4, 8, "module entries"}, {4, 7, "directory entries"}, {4, 0, "module entries"}} {
		g := gather{root: r, lim: abi.DefaultLimits(), maxFiles: tt.files, maxEntries: tt.entries}
		g.want("skills", "skills")
		err := g.run()
		var le *abi.LimitError
		if tt.limit == "" {
			if err != nil || len(g.files) != 4 {
				t.Errorf("at the bounds: %d files, %v", len(g.files), err)
			}
		} else if !errors.As(err, &le) || le.Limit != tt.limit {
			t.Errorf("%d files, %d entries: %v, want the limit of %q", tt.files, tt.entries, err, tt.limit)
		}
	}
}
