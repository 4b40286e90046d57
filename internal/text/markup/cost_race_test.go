//go:build race

package markup_test

// detectorFactor allows for the allocations of the race detector, under which pools give back less.
const detectorFactor = 2
