package module_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/host/module"
)

// TestNoDescriptorLeaks loads and reads, also in vain, and counts descriptors.
func TestNoDescriptorLeaks(t *testing.T) {
	good := parts.in("", tree{"lola.yaml": "name: m\n"}).write(t, "good")
	if err := syscall.Mkfifo(filepath.Join(good, "skills", "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	symlink(t, "/etc/passwd", good, "skills", "link")
	bad := []string{
		tree{"lola.yaml": "name: ..\n", "skills/x": "x"}.write(t, "bad"), tree{"lola.yaml": "x: y\n", "skills/x": "x"}.write(t, "bad"), tree{"x": "x"}.write(t, "bad"),
		tree{"skills/x": "too long"}.write(t, "bad"), "/nowhere",
	}
	all := func() {
		p, err := module.Load(good, limits(t, abi.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Request(nil); err != nil {
			t.Error(err)
		}
		contents(t, p)
		for _, dir := range bad {
			if p, err := module.Load(dir, limits(t, abi.Limits{Content: 4})); err == nil {
				p.Close()
				t.Errorf("Load(%q) took it", dir)
			}
		}
	}
	all()
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	for range 5 {
		all()
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors were open and %d are", before, after)
	}
}
