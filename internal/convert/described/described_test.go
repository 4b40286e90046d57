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
			case "values", "also", "links", "fields", "colours", "creation", "referred", "parts", "only", "joined": // which name what the tracker has, or which a hook reads
				continue
			}
			if !strings.Contains(code, `"`+s.kind+`"`) {
				t.Errorf("%s: nothing reads records of the kind %q", a.name, s.kind)
			}
			for _, l := range s.lines {
				if word, _, _ := strings.Cut(l.Of, " "); !strings.Contains(code, `"`+word+`"`) || len(l.Names) == 0 || l.Names[0] == "" {
					t.Errorf("%s, %s of %s: nothing reads %q", a.name, s.kind, s.list, l.Of)
				}
			}
		}
	}
}

// TestThePageOfTheWordsNamesEachWordOfADescription: somebody who describes a new tracker has the page only.
func TestThePageOfTheWordsNamesEachWordOfADescription(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("words.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{} // section and word
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		title, _, _ := strings.Cut(part, "\n")
		for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\| (.*?)(?: \\| .*)? \\|$").FindAllStringSubmatch(part, -1) {
			sections := map[string]string{"The first section": "", "Fields of an issue": "issue", "Sections about names": "section"}
			of, one := sections[title]
			if !one {
				of = row[2]
			}
			for section := range strings.SplitSeq(of, ", ") {
				for word := range strings.SplitSeq(strings.ReplaceAll(row[1], "`", ""), ", ") {
					explained[section+"/"+word] = true
				}
			}
		}
	}
	used := map[string]bool{}
	for _, a := range apis() {
		for n, s := range describe(a.text).sections {
			for _, l := range s.lines {
				switch word, _, _ := strings.Cut(l.Of, " "); {
				case n == 0:
					used["/"+l.Of] = true
				case explained["section/"+s.kind]: // its words are names
					used["section/"+s.kind] = true
				default:
					used[s.kind+"/"+word] = true
				}
			}
		}
	}
	for word := range used {
		if !explained[word] {
			t.Errorf("words.md does not explain %s", word)
		}
	}
	for word := range explained {
		if !used[word] {
			t.Errorf("words.md explains %s, which no description has", word)
		}
	}
}

// TestADescriptionSaysMoreThanTheCodeBesideIt: what a tracker has beside its description is at most 60 lines, and more for an archive and for boards.
func TestADescriptionSaysMoreThanTheCodeBesideIt(t *testing.T) {
	t.Parallel()
	said := regexp.MustCompile(`(?m)^\s*(?://.*)?\n`)
	for name, most := range map[string]int{"asana": 60, "azure": 60, "bitbucket": 60, "bugzilla": 60, "gitlab": 150, "trello": 150, "redmine": 60, "youtrack": 60} {
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
