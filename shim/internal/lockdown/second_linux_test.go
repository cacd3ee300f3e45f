package lockdown

import (
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lola-ext/lola/shim/policy"
)

// An attack is what code tries that is not held by the engine any more. The list of calls kills for each of them, whatever
// Landlock does; Landlock alone stops those that it is made for.
type attack struct {
	landlock int           // the version of Landlock that stops it; 0: Landlock is not made for it
	errno    syscall.Errno // with which Landlock stops it
	open     bool          // it works for a mighty root where there is no wall at all; else it takes more than is here
}

var attacks = map[string]attack{
	"openat /etc/passwd":       {1, unix.EACCES, true},
	"openat /proc/self/mem":    {1, unix.EACCES, true},
	"openat /proc/PARENT/mem":  {1, unix.EACCES, true},
	"openat /proc/PARENT/root": {1, unix.EACCES, true},
	"openat for writing":       {1, unix.EACCES, true},
	"openat to create":         {1, unix.EACCES, true},
	"openat O_TMPFILE":         {1, unix.EACCES, true},
	"openat O_PATH":            {0, 0, true},
	"openat2":                  {1, unix.EACCES, true},
	"open_by_handle_at":        {1, unix.EACCES, true},
	"unlinkat":                 {1, unix.EACCES, true},
	"renameat2":                {1, unix.EACCES, true},
	"mkdirat":                  {1, unix.EACCES, true},
	"mknodat":                  {1, unix.EACCES, true},
	"linkat":                   {1, unix.EACCES, true},
	"symlinkat":                {1, unix.EACCES, true},
	"truncate":                 {3, unix.EACCES, true},
	"fchmodat":                 {0, 0, true},
	"newfstatat":               {0, 0, true},
	"mount":                    {1, unix.EPERM, true},
	"umount2":                  {},
	"pivot_root":               {1, unix.EPERM, false},
	"chroot":                   {0, 0, true},
	"chdir":                    {0, 0, true},
	"fsopen":                   {0, 0, true},
	"open_tree":                {0, 0, true},
	"inotify_init1":            {0, 0, true},
	"fanotify_init":            {},
	"memfd_create":             {0, 0, true},

	"socket inet":      {0, 0, true},
	"socket inet6":     {0, 0, true},
	"socket unix":      {0, 0, true},
	"socket netlink":   {0, 0, true},
	"socket packet":    {},
	"socketpair":       {0, 0, true},
	"connect tcp":      {4, unix.EACCES, true},
	"connect udp":      {10, unix.EACCES, true},
	"connect abstract": {6, unix.EPERM, true},
	"connect path":     {9, unix.EACCES, true},
	"bind tcp":         {4, unix.EACCES, true},

	"execve":                               {1, unix.EACCES, true},
	"execveat of a memfd":                  {0, 0, true},
	"clone of a process":                   {0, 0, true},
	"clone of a thread in a new namespace": {},
	"clone with the flags high up":         {},
	"clone3":                               {0, 0, true},
	"unshare user":                         {},
	"unshare mount":                        {0, 0, true},
	"setns":                                {0, 0, true},
	"ptrace the parent":                    {1, unix.EPERM, true},
	"process_vm_readv":                     {1, unix.EPERM, true},
	"process_vm_writev":                    {1, unix.EPERM, true},
	"kill the parent":                      {6, unix.EPERM, true},
	"kill everybody":                       {},
	"tkill the parent":                     {6, unix.EPERM, true},
	"tgkill the parent":                    {6, unix.EPERM, true},
	"rt_sigqueueinfo":                      {6, unix.EPERM, true},
	"pidfd_open":                           {0, 0, true},
	"pidfd_send_signal":                    {6, unix.EPERM, true},
	"pidfd_getfd":                          {1, unix.EPERM, true},
	"kcmp":                                 {1, unix.EPERM, false},
	"prlimit of parent":                    {0, 0, true},
	"setpriority":                          {0, 0, true},
	"sched_setaffinity":                    {0, 0, false},
	"setuid":                               {0, 0, true},
	"capset":                               {0, 0, true},
	"personality":                          {0, 0, true},
	"prctl no more dumps":                  {0, 0, true},
	"prctl high up":                        {},
	"seccomp of one's own":                 {0, 0, true},

	"io_uring_setup":        {0, 0, true},
	"bpf":                   {},
	"perf_event_open":       {},
	"userfaultfd":           {},
	"keyctl":                {},
	"add_key":               {},
	"shmget":                {},
	"msgget":                {},
	"mq_open":               {},
	"init_module":           {},
	"finit_module":          {},
	"kexec_load":            {},
	"reboot":                {},
	"syslog":                {0, 0, true},
	"sethostname":           {},
	"landlock":              {},
	"timer_create":          {0, 0, true},
	"dup":                   {0, 0, true},
	"pipe2":                 {0, 0, true},
	"splice":                {},
	"fcntl F_SETOWN":        {0, 0, true},
	"ioctl TIOCSTI":         {},
	"no such call":          {},
	"call minus one":        {},
	"mmap exec":             {0, 0, true},
	"mprotect exec":         {0, 0, true},
	"mprotect all":          {0, 0, true},
	"pkey_mprotect":         {0, 0, true},
	"madvise poison":        {},
	"futex of another kind": {0, 0, true},
	"remap_file_pages":      {},
	"mremap":                {0, 0, true},
}

var attacksAMD64 = map[string]attack{
	"open":       {1, unix.EACCES, true},
	"creat":      {1, unix.EACCES, true},
	"fork":       {},
	"stat":       {0, 0, true},
	"iopl":       {},
	"arch_prctl": {},
	"x32 write":  {},
	"x32 open":   {},
	"int80":      {},
}

// TestSecondWall: code that got out of the engine tries everything, as raw system calls on a locked thread: with all
// walls, without Landlock, without seccomp, and, to know that the attack is one, without any.
func TestSecondWall(t *testing.T) {
	abi, filters := machine(t)
	if abi == 0 && !filters {
		t.Skip("this machine has neither Landlock nor seccomp: there is no second wall (TestLevels holds it to saying so)")
	}
	world(t)
	mighty := mayAll(t)
	all := maps.Clone(attacks)
	if runtime.GOARCH == "amd64" {
		maps.Copy(all, attacksAMD64)
	}
	if linkedWithC() {
		delete(all, "futex of another kind") // the C library's locks are of all kinds
	}
	for _, do := range slices.Sorted(maps.Keys(all)) {
		a := all[do]
		t.Run(do, func(t *testing.T) {
			if filters {
				for _, without := range [][]policy.Wall{nil, {policy.WallLandlock}} {
					renew(t)
					out := play(t, orders{Spec: Spec{without: without}, Guest: true, Do: do})
					if !stopped(out, do) {
						t.Errorf("without %v: want death by SIGSYS, got %s", without, out)
					}
				}
			}
			if abi > 0 && a.landlock > 0 && a.landlock <= abi {
				renew(t)
				out := play(t, orders{Spec: Spec{without: []policy.Wall{policy.WallSeccomp}}, Guest: true, Do: do})
				refused := !mighty && out.Errno == unix.EPERM // before the kernel came to ask Landlock
				if !out.Done || out.Errno != a.errno && !refused {
					t.Errorf("by Landlock alone: want %v, got %s", a.errno, out)
				}
			}
			if a.open {
				renew(t)
				out := play(t, orders{Spec: Spec{without: []policy.Wall{policy.WallLandlock, policy.WallSeccomp, policy.WallNoNewPrivs, policy.WallLimits}}, Guest: true, Do: do})
				if out.Killed || !out.Done || out.Errno != 0 && mighty {
					t.Errorf("without walls: it is no attack: %s", out)
				}
			}
		})
	}
}

// TestCompileStage: before the guest runs the list is longer by little, so most attacks fail there too.
func TestCompileStage(t *testing.T) {
	if _, filters := machine(t); !filters {
		t.Skip("this machine has no seccomp")
	}
	world(t)
	allowed := []string{"mprotect exec"}
	for _, stage := range []policy.Stage{policy.Compile, policy.Load} {
		for _, do := range []string{
			"openat for writing", "openat to create", "openat O_TMPFILE", "openat O_PATH", "openat2", "unlinkat", "socket inet", "execve", "clone of a process",
			"clone3", "ptrace the parent", "kill the parent", "tgkill the parent", "seccomp of one's own", "mmap exec", "mprotect all", "mprotect exec", "prctl no more dumps",
		} {
			spec := Spec{Stage: stage, without: []policy.Wall{policy.WallLandlock}}
			if stage.Folder() {
				spec.Folder = os.Getenv("LOLA_LOCKDOWN_FOLDER")
			}
			out := play(t, orders{Spec: spec, Do: do})
			if slices.Contains(allowed, do) {
				if !out.Done || out.Errno != 0 {
					t.Errorf("%s: %s", do, out)
				}
			} else if !stopped(out, do) {
				t.Errorf("%s, %s: %s", stage, do, out)
			}
		}
	}
}

// mayAll reports whether this process is root with all there is to it: in no user namespace, with every capability that
// the attacks need. Others are refused some attacks anyway.
func mayAll(t *testing.T) bool {
	t.Helper()
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&h, &caps[0]); err != nil {
		t.Fatal(err)
	}
	want := uint32(1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_SETUID | 1<<unix.CAP_SYS_NICE)
	return os.Geteuid() == 0 && strings.Join(strings.Fields(string(ids)), " ") == "0 0 4294967295" && caps[0].Effective&want == want
}

// world is what attacks aim at: a folder, and servers.
func world(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lola") // short: an address of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("LOLA_LOCKDOWN_FOLDER", dir)
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOLA_LOCKDOWN_PORT", strconv.Itoa(tcp.Addr().(*net.TCPAddr).Port))
	abstract := "lola-lockdown-" + strconv.Itoa(os.Getpid())
	hidden, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOLA_LOCKDOWN_ABSTRACT", abstract)
	path, err := net.Listen("unix", dir+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = tcp.Close(), hidden.Close(), path.Close() })
	renew(t)
}

// renew has the folder as it was.
func renew(t *testing.T) {
	t.Helper()
	dir := os.Getenv("LOLA_LOCKDOWN_FOLDER")
	_ = unix.Unmount(dir, unix.MNT_DETACH)
	_ = os.RemoveAll(dir + "/new")
	writeFile(t, dir+"/there", "content")
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGoLives: what Go's runtime does of itself is on the lists, in a guest's stage too.
func TestGoLives(t *testing.T) {
	runs := 3
	if s := os.Getenv("LOLA_LOCKDOWN_RUNS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("LOLA_LOCKDOWN_RUNS is %q", s)
		}
		runs = n
	}
	for i := range runs {
		if out := play(t, orders{Guest: true, Do: "live"}); !out.Done || out.Errno != 0 {
			t.Fatalf("run %d: %s", i, out)
		}
	}
}

// TestGoDies as it does without walls: with its stack and status 2, not by the filter.
func TestGoDies(t *testing.T) {
	for do, want := range map[string]string{"panic": "assignment to entry in nil map", "overflow": "stack overflow"} {
		out := play(t, orders{Guest: true, Do: do})
		if out.Killed || out.State.ExitCode() != 2 || !strings.Contains(out.Stderr, want) || !strings.Contains(out.Stderr, "goroutine ") {
			t.Errorf("%s: %s", do, out)
		}
	}
}
