package lockdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/lola-ext/lola/shim/policy"
)

// The test binary is started again as a child, with the stage in the environment.

const stageVar = "LOLA_LOCKDOWN_STAGE"

func TestMain(m *testing.M) {
	stage, ok := os.LookupEnv(stageVar)
	if !ok {
		os.Exit(m.Run())
	}
	spec := Spec{Stage: policy.Stage(stage), Memory: 64 << 20, CPU: time.Minute}
	if spec.Stage.Folder() {
		spec.Folder = os.Getenv("LOLA_LOCKDOWN_FOLDER")
	}
	report, err := Enter(spec)
	if err != nil {
		fmt.Println("err", err)
		os.Exit(1)
	}
	var read error
	if spec.Folder != "" {
		_, read = os.ReadFile(spec.Folder + `\there`)
	}
	if err := Guest(); err != nil {
		fmt.Println("err", err)
		os.Exit(1)
	}
	// Go goes on as ever.
	work := make(chan []byte)
	for range 50 {
		go func() { time.Sleep(time.Millisecond); work <- make([]byte, 1<<20) }()
	}
	for range 50 {
		<-work
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), stageVar+"=none")
	said := map[string]any{"report": report, "read": fmt.Sprint(read), "child": fmt.Sprint(cmd.Start()), "write": fmt.Sprint(os.WriteFile(os.Getenv("LOLA_LOCKDOWN_FOLDER")+`\new`, nil, 0o600))}
	b, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
}

// wine has jobs and tokens and does not keep all of their promises.
func wine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

func TestEnter(t *testing.T) {
	for _, stage := range []policy.Stage{policy.Compile, policy.Store, policy.Load} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+`\there`, []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), stageVar+"="+string(stage), "LOLA_LOCKDOWN_FOLDER="+dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v, %s%s", stage, err, out, &stderr)
		}
		var said struct {
			Report             Report
			Read, Child, Write string
		}
		if err := json.Unmarshal(out, &said); err != nil {
			t.Fatalf("%s: %v, %s", stage, err, out)
		}
		t.Logf("%s: %+v", stage, said)
		want := policy.Process
		if wine() {
			want = policy.None // its job objects keep no limits, which is noticed
		}
		if said.Report.Level != want || len(said.Report.Details) != 3 || said.Report.Landlock != 0 || said.Report.Seccomp {
			t.Errorf("%s: %+v", stage, said.Report)
		}
		if said.Read != "<nil>" {
			t.Errorf("%s: reading from its folder: %s", stage, said.Read)
		}
		for _, d := range said.Report.Details {
			if !d.Up && d.Why == "" {
				t.Errorf("%s: %+v", stage, d)
			}
		}
		if wine() {
			continue
		}
		if said.Child == "<nil>" {
			t.Errorf("%s: a child started", stage)
		}
		if said.Write == "<nil>" {
			t.Errorf("%s: a file was written", stage)
		}
	}
}

func TestWrongOrders(t *testing.T) {
	for _, s := range []Spec{{}, {Stage: policy.Guest}, {Stage: policy.Load}, {Stage: policy.Compile, Folder: `C:\`}} {
		if _, err := Enter(s); err == nil || !strings.Contains(err.Error(), "stage") {
			t.Fatalf("%+v: %v", s, err)
		}
	}
	if err := Guest(); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
