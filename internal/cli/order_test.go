package cli_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// TestAnImportKeepsItsNumbers makes 1,500 work items in a new project, which name
// people, labels, parents above and below them, and are written inside one another.
func TestAnImportKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	t.Run("by API v1", func(t *testing.T) {
		t.Parallel()
		importKeepsItsNumbers(t, 500, sandboxtest.Options{PerPage: 200})
	})
	t.Run("by API v2", func(t *testing.T) { // a request of which has no sub-items of its own items
		t.Parallel()
		importKeepsItsNumbers(t, 500, sandboxtest.Options{Edition: sandbox.Cloud, PerPage: 200}, "--order", "exact")
	})
}

func importKeepsItsNumbers(t *testing.T, n int, o sandboxtest.Options, flags ...string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: old\n    identifier: OLD\n    name: Old\n" +
		"    members: [ada@example.com, bob@example.com]\n    labels: [{name: a}, {name: b}]\n    work_items:\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := 1; i <= n; i++ {
		indent := "      "
		if i%10 > 7 { // inside the one before
			indent += "    "
			if i%10 == 8 {
				b.WriteString("        work_items:\n")
			}
		}
		fmt.Fprintf(&b, "%s- key: old-%d\n%s  name: Ticket %d\n", indent, i, indent, i)
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%s  assignees: [bob@example.com]\n", indent)
		case 1:
			fmt.Fprintf(&b, "%s  labels: [a, b]\n", indent)
		case 2:
			if i%10 < 7 && i > 1 {
				fmt.Fprintf(&b, "%s  parent: old-%d\n", indent, 1+r.IntN(i-1))
			}
		default:
			fmt.Fprintf(&b, "%s  links: [{url: \"https://example.com/%d\"}]\n", indent, i)
		}
	}
	s := newService(t, o)
	file := s.write(t, "old.yaml", b.String())
	s.must(t, append([]string{"apply", "-f", file, "--parallelism", "8"}, flags...)...)
	numbers := map[any]string{}
	for _, row := range s.Rows("work_item") {
		numbers[row["name"]] = fmt.Sprint(row["sequence_id"])
	}
	wrong := 0
	for i := 1; i <= n; i++ {
		if numbers[fmt.Sprintf("Ticket %d", i)] != strconv.Itoa(i) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d have another number", wrong, n)
	}
	if r := s.must(t, "plan", "-f", file); !strings.Contains(r.out, "No changes in what was compared: 503 of 654 objects match the manifest; not compared: 151 links ") {
		t.Errorf("the next plan is\n%.1000s", r.out)
	}
}
