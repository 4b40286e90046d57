//go:build !race

package markup_test

// detectorFactor is 1 where nothing but the code allocates.
const detectorFactor = 1
