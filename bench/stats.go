package main

import "slices"

// Summary is a list of figures in few. The zero value is that of no figures.
type Summary struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// summarise leaves figures as they are.
func summarise(figures []float64) Summary {
	n := len(figures)
	if n == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	return Summary{Min: sorted[0], Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Max: sorted[n-1]}
}

// Spread is how far the largest figure lies above the smallest, as a share of the smallest: 0.3 means 30 %.
func (s Summary) Spread() float64 {
	if s.Min <= 0 {
		return 0
	}
	return s.Max/s.Min - 1
}

// ratios divides figure by figure: both lists come from the same rounds, so what slowed a round slowed both. Rounds in
// which the divisor is zero (a clock too coarse) are left out.
func ratios(of, to []float64) []float64 {
	var out []float64
	for i := range min(len(of), len(to)) {
		if to[i] > 0 {
			out = append(out, of[i]/to[i])
		}
	}
	return out
}

// figures picks one figure of each sample.
func figures(samples []Sample, pick func(Sample) float64) []float64 {
	out := make([]float64, 0, len(samples))
	for _, s := range samples {
		out = append(out, pick(s))
	}
	return out
}

func wall(s Sample) float64   { return float64(s.Wall) }
func cpu(s Sample) float64    { return float64(s.CPU) }
func peak(s Sample) float64   { return float64(s.Peak) }
func faults(s Sample) float64 { return float64(s.Faults) }
