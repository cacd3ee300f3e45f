package abitest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lola-ext/lola/abi"
	"github.com/lola-ext/lola/abi/abitest"
)

func TestVectors(t *testing.T) {
	vectors, err := abitest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 120 {
		t.Errorf("%d vectors, want 120 at least", len(vectors))
	}
	classes := map[string]bool{abitest.Valid: true}
	for _, c := range abi.Classes {
		classes[string(c)] = true
	}
	byName := map[string]abitest.Vector{}
	for _, v := range vectors {
		byName[v.Name] = v
	}
	name := regexp.MustCompile(`^[a-z][a-z0-9-]*_[a-z0-9_-]+$`)
	payloads := map[string]string{}
	for _, v := range vectors {
		if !name.MatchString(v.Name) {
			t.Errorf("vector %q: want a name like subject_defect", v.Name)
		}
		if !classes[v.Expect] || !classes[v.Sized] {
			t.Errorf("vector %q expects %q, sized %q: no such class", v.Name, v.Expect, v.Sized)
		}
		if v.Comment == "" {
			t.Errorf("vector %q has no comment", v.Name)
		}
		if v.SameAs != "" {
			if twin, ok := byName[v.SameAs]; !ok || twin.Subject != v.Subject || twin.Form == v.Form || twin.Expect != abitest.Valid {
				t.Errorf("vector %q is the same as %q, which is no valid vector of the other form", v.Name, v.SameAs)
			}
		}
		same := fmt.Sprint(v.Form, v.Subject, v.Limits, string(v.Payload))
		if other := payloads[same]; other != "" && len(v.Payload) > 0 {
			t.Errorf("vectors %q and %q have the same payload", v.Name, other)
		}
		payloads[same] = v.Name
	}
}

// TestD01ToD04HaveVectors finds the rows of the list of hostile inputs that are about decoding.
func TestD01ToD04HaveVectors(t *testing.T) {
	vectors, err := abitest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	for row, classes := range map[string][]abi.Class{
		"D01": {abi.ClassDepth},
		"D02": {abi.ClassLimitItem, abi.ClassLimitPlan, abi.ClassLimitContent, abi.ClassLimitIntents, abi.ClassLimitMessages},
		"D03": {abi.ClassIndefinite},
		"D04": {abi.ClassDuplicateKey, abi.ClassUnknownKey, abi.ClassTag, abi.ClassTrailing, abi.ClassNonMinimal, abi.ClassUTF8},
	} {
		for _, c := range classes {
			found := false
			for _, v := range vectors {
				found = found || v.Expect == string(c) && strings.HasPrefix(v.Comment, row+":")
			}
			if !found {
				t.Errorf("row %s: no vector of class %q", row, c)
			}
		}
	}
}

func TestParse(t *testing.T) {
	head := "expect: valid\nform: cbor\nsubject: plan\n"
	v, err := abitest.Parse("x", []byte(head+"limit: content=5\nsame-as: y\nrespell: true\n\na2 63*2 # 99\n\n# nothing\n  01\n"))
	if err != nil {
		t.Fatal(err)
	}
	if string(v.Payload) != "\xa2\x63\x63\x01" || v.Limits != (abi.Limits{Content: 5}) || v.SameAs != "y" || !v.Respell || v.Sized != "valid" {
		t.Errorf("got %+v", v)
	}
	for name, text := range map[string]string{
		"no empty line":   head,
		"unknown key":     head + "expects: valid\n\n",
		"no colon":        head + "limit\n\n",
		"unknown form":    "expect: valid\nform: xml\nsubject: plan\n\n",
		"unknown subject": "expect: valid\nform: cbor\nsubject: reply\n\n",
		"no subject":      "expect: valid\nform: cbor\n\n",
		"unknown limit":   head + "limit: path=1\n\n",
		"limit no number": head + "limit: plan=x\n\n",
		"odd digits":      head + "\na\n",
		"no digits":       head + "\nxy\n",
		"bad repetition":  head + "\n00*x\n",
	} {
		if _, err := abitest.Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: got %v, want an error that names the vector", name, err)
		}
	}
}

func ExampleVectors() {
	vectors, err := abitest.Vectors()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range vectors {
		if v.Name == "plan_no_intents" {
			fmt.Printf("%s %s %s: %s %x\n", v.Form, v.Subject, v.Name, v.Expect, v.Payload)
		}
	}
	// Output: cbor plan plan_no_intents: valid a2636162690165636f756e7400
}
