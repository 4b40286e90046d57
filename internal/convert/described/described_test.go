package described

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEachLineOfADescriptionIsRead: a word that nothing reads would leave out what it names.
func TestEachLineOfADescriptionIsRead(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range []string{"description.go", "engine.go", "fields.go", "../tabular/columns.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(regexp.MustCompile(`(?m)$| \| | = `).ReplaceAllString(string(data), `"`)) // the words of a list as those of code
	}
	code := all.String()
	for _, a := range apis() {
		for _, s := range describe(a.text).sections[1:] {
			switch s.kind {
			case "values", "also", "links", "fields", "colours", "creation": // which name what the tracker has, or which a hook reads
				continue
			}
			if !strings.Contains(code, `"`+s.kind+`"`) {
				t.Errorf("%s: nothing reads records of the kind %q", a.name, s.kind)
			}
			for _, l := range s.lines {
				if word, _, _ := strings.Cut(l.field, " "); !strings.Contains(code, `"`+word+`"`) || len(l.paths) == 0 || l.paths[0] == "" {
					t.Errorf("%s, %s of %s: nothing reads %q", a.name, s.kind, s.list, l.field)
				}
			}
		}
	}
}

// TestADescriptionSaysMoreThanTheCodeBesideIt: what a tracker has beside its description is at most 60 lines, and more for an archive and for boards.
func TestADescriptionSaysMoreThanTheCodeBesideIt(t *testing.T) {
	t.Parallel()
	said := regexp.MustCompile(`(?m)^\s*(?://.*)?\n`)
	for name, most := range map[string]int{"asana": 60, "azure": 60, "bitbucket": 60, "bugzilla": 60, "gitlab": 150, "trello": 199, "redmine": 60, "youtrack": 60} {
		data, err := os.ReadFile(name + ".go")
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(data), "\n)\n")
		if n := strings.Count(said.ReplaceAllString(code, ""), "\n"); n > most {
			t.Errorf("%s.go has %d lines, and not at most %d", name, n, most)
		}
	}
}
