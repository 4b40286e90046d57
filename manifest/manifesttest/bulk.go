// Package manifesttest writes manifests for tests and benchmarks of this module.
package manifesttest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Bulk writes a manifest with the given number of work items in one project with 26 cycles and 5 labels. Each item has a link and a cycle.
// Names, descriptions, dates, labels and parents vary as in real manifests. Equal numbers give equal bytes.
func Bulk(w io.Writer, items int) error {
	b := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(b, format, args...) } // Flush returns the first error
	verbs := []string{"Rebuild", "Review", "Document", "Measure", "Retire", "Translate", "Cache", "Encrypt", "Split", "Test", "Draw", "Ship", "Rename"}
	things := []string{"checkout", "search page", "address book", "invoice export", "login form", "price list", "news letter", "sitemap", "audit log", "image pipeline", "tax table"}
	why := []string{
		"Customers leave here; support counted %d calls last month.",
		"The old one breaks when more than %d people use it at once.",
		"Legal asked for it, see paragraph %d of the contract & its annex.",
		"It takes %d seconds on a telephone, and nobody waits that long.",
		"Left over from the move: %d rows still have the old form.",
	}
	how := []string{
		"Keep the old address working, and say so in the *release notes*.",
		"Needs a look by security before it goes out: **no exceptions**.",
		"Start small – one team, one week – and report what was learnt.",
		"Do not touch the data; a copy is enough for the first step.",
	}
	states := []string{"Backlog", "Todo", "In Progress", "Done"}
	priorities := []string{"none", "low", "medium", "high", "urgent"}
	labels := []string{"backend", "frontend", "design", "data", "security"}
	const cycles = 26
	p("version: 1\nworkspace: acme\n\nprojects:\n  - key: web\n    identifier: WEB\n    name: Website\n    description: Public site and shop\n    cycles:\n")
	for c := range cycles {
		p("      - {key: sprint-%d, name: Sprint %d}\n", c+1, c+1)
	}
	p("    labels: [{name: %s}]\n    work_items:\n", strings.Join(labels, "}, {name: "))
	for i := range items {
		p("      - key: item-%d\n", i+1)
		p("        name: %s the %s, part %d\n", verbs[i%len(verbs)], things[i%len(things)], i/len(verbs)+1)
		p("        description: |\n          %s\n          %s\n", fmt.Sprintf(why[i%len(why)], i%977), how[i%len(how)])
		p("        state: %s\n        priority: %s\n", states[i%len(states)], priorities[i%len(priorities)])
		p("        labels: [%s, %s]\n", labels[i%len(labels)], labels[(i+2)%len(labels)])
		if i%7 == 3 {
			p("        parent: item-%d\n", i-2)
		}
		if i%3 == 0 {
			p("        estimate_point: %d\n", i%3+1)
		}
		p("        start_date: 2026-%02d-%02d\n        target_date: 2027-%02d-%02d\n", i%12+1, i%28+1, i%12+1, (i+9)%28+1)
		p("        cycle: sprint-%d\n", i%cycles+1)
		p("        links:\n          - {url: \"https://example.com/design/%d\", title: Design of part %d}\n", i+1, i+1)
	}
	return b.Flush()
}
