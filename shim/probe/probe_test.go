package probe

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lola-ext/lola/shim/policy"
)

// TestSystem: the report is whole, agrees with itself, and says the same again.
func TestSystem(t *testing.T) {
	r := System()
	t.Logf("%+v", r)
	if r.OS != runtime.GOOS || r.Arch != runtime.GOARCH || r.Release == "" || len(r.Walls) == 0 || len(r.Open) == 0 {
		t.Errorf("got %+v", r)
	}
	if !slices.Contains(policy.Levels(), r.Level) {
		t.Errorf("%q is no level", r.Level)
	}
	for _, w := range r.Walls {
		switch w.Enforced {
		case Yes:
		case No, Unknown:
			if w.Why == "" {
				t.Errorf("%s is %s, and it is not said why", w.Name, w.Enforced)
			}
		default:
			t.Errorf("%s: there is no answer %q", w.Name, w.Enforced)
		}
		if (w.Name == policy.WallLandlock && w.Enforced == Yes) != (w.Version > 0) {
			t.Errorf("%s: %s with version %d", w.Name, w.Enforced, w.Version)
		}
		if w.Name == policy.WallSeccomp && r.Level.AtLeast(policy.Seccomp) != (w.Enforced == Yes) {
			t.Errorf("level %s with seccomp %s", r.Level, w.Enforced)
		}
	}
	again := System()
	if again.Level != r.Level || !slices.Equal(again.Walls, r.Walls) {
		t.Errorf("first %+v, then %+v", r, again)
	}
}

// TestNoSideEffects: the process can do afterwards what it could before.
func TestNoSideEffects(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process may is read from /proc")
	}
	state := func() string {
		b, err := os.ReadFile("/proc/thread-self/status")
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for line := range strings.Lines(string(b)) {
			for _, p := range []string{"NoNewPrivs", "Seccomp", "Cap", "Uid", "Sig"} {
				if strings.HasPrefix(line, p) && !strings.HasPrefix(line, "SigQ") {
					kept = append(kept, line)
				}
			}
		}
		if len(kept) < 5 {
			t.Fatalf("the process says of itself only %q", kept)
		}
		return strings.Join(kept, "")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := state()
	System()
	if after := state(); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// TestEmulator: what is emulated is known to be, and then has no wall that only a kernel can keep.
func TestEmulator(t *testing.T) {
	r := System()
	if r.Emulator != "" && r.Level.AtLeast(policy.Landlock) {
		t.Errorf("%s and level %s", r.Emulator, r.Level)
	}
	// A binary of another architecture is run here by somebody, who is then named.
	if b, err := os.ReadFile("/proc/sys/kernel/arch"); err == nil && runtime.GOOS == "linux" {
		machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
		if native := strings.TrimSpace(string(b)) == machine; machine != "" && native != (r.Emulator == "") {
			t.Errorf("the kernel is of %q and this program of %s, and the emulator is %q", b, runtime.GOARCH, r.Emulator)
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) && runtime.GOOS == "linux" {
		t.Error(err)
	}
}

func TestMissing(t *testing.T) {
	cause := errors.New("cause")
	w := missing(policy.WallSeccomp, &Missing{Why: "it is not there", Help: "get it", Err: cause})
	if w.Enforced != No || w.Why != "it is not there: cause" || w.Help != "get it" || !errors.Is(&Missing{Err: cause}, cause) {
		t.Errorf("got %+v", w)
	}
}

func ExampleSystem() {
	r := System()
	if !r.Level.AtLeast(policy.Process) {
		for _, w := range r.Walls {
			println(w.Name, w.Why, w.Help)
		}
	}
	// Output:
}
