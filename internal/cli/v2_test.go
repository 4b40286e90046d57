package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// migration writes a manifest of one project with n work items that have state, labels,
// assignee, cycle and module, a third of them a parent, and the first ones a link.
func migration(n, links, containers int, note string) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: " + sandboxtest.ProjectWeb + "\n    identifier: WEB\n")
	b.WriteString("    labels: [{name: red}, {name: blue}, {name: green}]\n    states: [{name: Review, group: started}, {name: Blocked, group: started}]\n    cycles:\n")
	for i := range containers {
		fmt.Fprintf(&b, "      - {key: c%d, name: Sprint %d}\n", i, i)
	}
	b.WriteString("    modules:\n")
	for i := range containers {
		fmt.Fprintf(&b, "      - {key: m%d, name: Module %d}\n", i, i)
	}
	b.WriteString("    work_items:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - {key: i%d, name: Item %d, description: \"Number **%d**%s\", state: %s, labels: [%s], assignees: [ada@example.com], cycle: c%d, module: m%d",
			i, i, i, note, []string{"Review", "Blocked"}[i%2], []string{"red", "blue", "red, green"}[i%3], i%containers, (i+1)%containers)
		if i%3 == 1 {
			fmt.Fprintf(&b, ", parent: i%d", i-1)
		}
		if i < links {
			fmt.Fprintf(&b, ", links: [{url: \"https://example.com/%d\"}]", i)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func TestAnImportByAPIV2TakesFiftyRowsARequest(t *testing.T) {
	t.Parallel()
	const items, links, levels, pages, others = 400, 40, 2, 4, 25 // pages are read for the texts
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, PerPage: 100})
	manifest := s.write(t, "m.yaml", migration(items, links, 10, ""))

	s.must(t, "apply", "-f", manifest)
	reads, writes := s.sent(0)
	if most := items/50 + levels + links + pages + others; reads+writes > most {
		t.Errorf("%d requests (%d reads, %d writes), more than %d:%s", reads+writes, reads, writes, most, requests(s, 0))
	}
	if got := len(s.Rows("work_item")) - 1; got != items {
		t.Errorf("%d work items instead of %d", got, items)
	}

	before := len(s.Log())
	second := s.must(t, "apply", "-f", manifest)
	if reads, writes := s.sent(before); writes != 0 {
		t.Errorf("the second apply made %d reads and %d writes:%s\n%s", reads, writes, requests(s, before), second.out)
	}
	if !strings.Contains(second.out, "No changes") {
		t.Errorf("the second apply changes something:\n%s", second.out)
	}

	before = len(s.Log())
	text := strings.ReplaceAll(migration(items, links, 10, ""), "name: Item 1", "name: Thing 1")
	changed := strings.Count(text, "name: Thing 1")
	s.must(t, "apply", "-f", s.write(t, "m.yaml", text))
	if _, writes := s.sent(before); writes != (changed+49)/50 {
		t.Errorf("%d writes change %d items:%s", writes, changed, requests(s, before))
	}
}

// requests counts the requests since the n-th by method and path, without IDs.
func requests(s *service, n int) string {
	var b strings.Builder
	count, order := map[string]int{}, []string{}
	for _, e := range s.Log()[n:] {
		parts := strings.Split(e.Path, "/")
		for i, p := range parts {
			if len(p) == 36 {
				parts[i] = "{}"
			}
		}
		key := fmt.Sprint(e.Method, " ", strings.Join(parts, "/"), " ", e.Status)
		if count[key]++; count[key] == 1 {
			order = append(order, key)
		}
	}
	for _, key := range order {
		fmt.Fprintf(&b, "\n%5d %s", count[key], key)
	}
	return b.String()
}
