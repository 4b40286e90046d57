package bucket_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain gives the garbage collector less to do: it took a fourth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
