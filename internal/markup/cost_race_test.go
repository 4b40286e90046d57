//go:build race

package markup_test

// detectorFactor allows for what the race detector allocates beside the code: pools give back less under it.
const detectorFactor = 2
