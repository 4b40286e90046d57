package convert_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(sandboxtest.GCPercent)
	sandboxtest.TempInMemory()
	os.Exit(m.Run())
}
