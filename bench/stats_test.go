package main

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSummarise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		figures []float64
		want    Summary
		spread  float64
	}{
		{nil, Summary{}, 0},
		{[]float64{4}, Summary{4, 4, 4}, 0},
		{[]float64{3, 1}, Summary{1, 2, 3}, 2},
		{[]float64{9, 1, 5}, Summary{1, 5, 9}, 8},
		{[]float64{4, 1, 3, 2}, Summary{1, 2.5, 4}, 3},
		{[]float64{2, 2, 2, 3}, Summary{2, 2, 3}, 0.5},
		{[]float64{0, 0, 7}, Summary{0, 0, 7}, 0}, // no share of nothing
	} {
		given := slices.Clone(tt.figures)
		got := summarise(tt.figures)
		if got != tt.want || math.Abs(got.Spread()-tt.spread) > 1e-9 {
			t.Errorf("summarise(%v) = %+v, spread %v, want %+v, %v", tt.figures, got, got.Spread(), tt.want, tt.spread)
		}
		if !slices.Equal(given, tt.figures) {
			t.Errorf("summarise(%v) reordered its argument", given)
		}
	}
}

// TestRatios: figures that rise and fall with the floor's have a steady ratio, which is why they are paired.
func TestRatios(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ of, to, want []float64 }{
		{[]float64{2, 20, 6}, []float64{1, 10, 3}, []float64{2, 2, 2}},
		{[]float64{2, 5}, []float64{0, 5}, []float64{1}},
		{[]float64{1, 2, 3}, []float64{1}, []float64{1}},
		{nil, []float64{1}, nil},
	} {
		if got := ratios(tt.of, tt.to); !slices.Equal(got, tt.want) {
			t.Errorf("ratios(%v, %v) = %v, want %v", tt.of, tt.to, got, tt.want)
		}
	}
}

// sampleReport is of two commands in three rounds, the second of which was disturbed.
func sampleReport() *Report {
	ms := func(wall, cpu float64, peakMB float64, faults int64) Sample {
		return Sample{Wall: time.Duration(wall * 1e6), CPU: time.Duration(cpu * 1e6), Peak: int64(peakMB * 1e6), Faults: faults}
	}
	return newReport(options{rounds: 3}, found{module: "/somewhere/m", skills: "/x/skills", skillsVersion: "1.5.7"},
		[]*command{{name: floorName}, {name: "lola version"}, {name: installName}, {name: rivalName}},
		[][]Sample{
			{ms(4, 5, 3.1, 570), ms(8, 5, 3.1, 574), ms(5, 6, 3.2, 580)},
			{ms(2, 3, 0, 0), ms(4, 3, 0, 0), ms(2.5, 3, 0, 0)},
			{ms(8, 9, 9, 900), ms(16, 10, 9, 900), ms(10, 11, 9, 901)},
			{ms(320, 90, 60, 5000), ms(640, 100, 60, 5000), ms(400, 110, 60, 5000)},
		}, "plan9/mips", 2)
}

func TestTable(t *testing.T) {
	t.Parallel()
	const want = `plan9/mips, 2 CPUs, 3 rounds, module "m", skills 1.5.7

       command  wall min  median ms  CPU min  median ms  wall × floor  CPU × floor  peak MB  minor faults  spread
         floor       4.0        5.0      5.0        5.0          1.00         1.00      3.1           574   100 %
  lola version       2.0        2.5      3.0        3.0          0.50         0.60        -             -   100 %
  lola install       8.0       10.0      9.0       10.0          2.00         1.83      9.0           900   100 %
    skills add     320.0      400.0     90.0      100.0         80.00        18.33     60.0          5000   100 %

"lola install" takes 0.025 of the time and 0.100 of the CPU of "skills add".

Noise: the floor took 4.0 to 8.0 ms in the same run, a spread of 100 %, CPU 20 %. Smaller differences mean nothing.
`
	var got bytes.Buffer
	if err := sampleReport().Table(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", &got, want)
	}
}

func TestJSONHasNoPaths(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := sampleReport().JSON(&out); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Rows) != 4 || back.InstallToRival == nil || back.InstallToRival.Wall.Median != 0.025 || back.Rows[1].WallRatio.Median != 0.5 || back.Rival != "skills 1.5.7" {
		t.Errorf("read back %+v", back)
	}
	if strings.Contains(out.String(), "somewhere") {
		t.Errorf("the report tells a path of this machine:\n%s", &out)
	}
}
