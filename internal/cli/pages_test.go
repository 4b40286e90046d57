package cli_test

import (
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// page runs the shell blocks of a page below docs/ on the sandbox, line by line: page plans.md.
func page(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: page FILE")
	}
	text, err := os.ReadFile("../../docs/" + args[0])
	ts.Check(err)
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		ts.Fatalf("%s has no shell blocks", args[0])
	}
	talks := regexp.MustCompile(`planform (plan|apply) `)
	for _, block := range blocks {
		ts.Check(ts.Exec("sh", "-ec", talks.ReplaceAllString(block[1], "${0}--sandbox ")))
	}
}
