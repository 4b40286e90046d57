package sandbox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seen is a statement of the service's own tests about API v2, in other words, and how the sandbox is asked about it.
type seen struct {
	of, mark      string // what it is about, and how sure it is; see seenMarks
	asked, answer string
	// why is set if the sandbox does not serve it. Then it has to say so (501), or there is nothing that could be asked.
	why  string
	opts Options
	// steps are requests, a line each, with the status and more of the answer behind an arrow:
	//
	//	POST $P/labels/ {"name":"x"} -> 201 id>a; name=x
	//
	// id>a keeps a value as $a, name=x compares one, +id wants one, -id wants none, ~x and !x look for a text, @Retry-After=60 is a header.
	steps string
}

// seenMarks returns the marks, each with its meaning.
func seenMarks() [][2]string {
	return [][2]string{
		{"L", "The authors saw a running server do it and say so, or quote its words."},
		{"N", "The Node suite asserts it. That suite was evidently run."},
		{"T", "The Python suite asserts it. Nothing says that it passed."},
		{"U", "The Python suite asserts it, in a file that says it was not verified yet."},
	}
}

// seenVariables are the words that every statement may use.
func seenVariables() []string {
	return []string{
		"W", strings.TrimSuffix(wsV2, "/"), "P", strings.TrimSuffix(webV2, "/"), "V1", "/api/v1/workspaces/acme", "web", projectWeb, "ops", projectOps,
		"item", workItemWeb1, "todo", stateTodo, "done", stateDone, "story", typeStory, "cycle", cycleSprint14, "module", moduleCheckout,
		"estimate", estimateWeb, "ada", userAda, "bob", userBob, "nobody", unknownID, "page", pageWelcome, "relates", definitionRelates,
		"default", typeDefault, "customer", customerGlobex, "long", strings.Repeat("x", 300),
		"many", strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, maxBatch+1), ","),
	}
}

func TestAPIV2AnswersAsTheServicesOwnTestsSawIt(t *testing.T) {
	t.Parallel()
	for _, s := range seenInTests() {
		t.Run(s.of+" "+s.asked, func(t *testing.T) {
			t.Parallel()
			s.opts.Edition = Cloud
			if s.opts.Rate > 0 {
				s.opts.Now = func() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) }
			}
			server, vars, unserved := openTest(t, s.opts), seenVariables(), s.steps == ""
			for line := range strings.Lines(s.steps) {
				if line = strings.TrimSpace(line); line != "" {
					status := playSeen(t, server, line, &vars)
					unserved = unserved || status == 501
				}
			}
			if unserved != (s.why != "") {
				t.Errorf("not served: %v, because %q", unserved, s.why)
			}
		})
	}
}

// playSeen makes one request, and compares the answer.
func playSeen(t *testing.T, s *Server, line string, vars *[]string) int {
	t.Helper()
	request, wanted, _ := strings.Cut(line, " -> ")
	var pairs []string
	for i := len(*vars) - 2; i >= 0; i -= 2 {
		pairs = append(pairs, "$"+(*vars)[i], (*vars)[i+1])
	}
	words := strings.NewReplacer(pairs...)
	parts := strings.SplitN(words.Replace(request), " ", 3)
	got := ask(t, s, parts[0], parts[1], strings.Join(parts[2:], ""))
	status, more, _ := strings.Cut(wanted, " ")
	if strconv.Itoa(got.status) != status {
		t.Fatalf("%s\nis answered %d %s", line, got.status, got.body)
	}
	for condition := range strings.SplitSeq(more, "; ") {
		if condition = words.Replace(condition); condition == "" {
			continue
		}
		name, value, _ := strings.Cut(condition, "=")
		key, variable, keep := strings.Cut(condition, ">")
		shown, found := got.at(t, strings.TrimLeft(name, "+-@"))
		switch {
		case keep:
			kept, _ := got.at(t, key)
			*vars = append(*vars, variable, fmt.Sprint(kept))
			continue
		case condition[0] == '~':
			found = strings.Contains(got.body, condition[1:])
		case condition[0] == '!':
			found = !strings.Contains(got.body, condition[1:])
		case condition[0] == '@':
			found = got.header.Get(name[1:]) == value
		case condition[0] == '-':
			found = !found
		case condition[0] != '+':
			found = fmt.Sprint(shown) == value
		}
		if !found {
			t.Errorf("%s\n%s is not so: %s", line, condition, got.body)
		}
	}
	return got.status
}

// at is a value of the answer, by the names on the way to it.
func (a answer) at(t *testing.T, path string) (value any, found bool) {
	t.Helper()
	if a.body != "" {
		if err := json.Unmarshal([]byte(a.body), &value); err != nil {
			t.Fatal(a.body)
		}
	}
	found = true
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value, found = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if found = err == nil && i < len(v); found {
				value = v[i]
			}
		default:
			found = false
		}
		if !found {
			return nil, false
		}
	}
	return value, true
}

// seenTable is the part of the page about fidelity that the statements make.
func seenTable() string {
	var b strings.Builder
	all := seenInTests()
	b.WriteString("\n## As seen in the service's own tests\n\n" +
		"The service's two SDKs have public test suites that call a server with API v2. Their authors noted each difference between that\n" +
		"server and its reference. A test of the sandbox checks each statement below. The sandbox does not serve features that planform does\n" +
		"not use. We have asked no server with API v2 ourselves.\n\n" +
		"| Mark | Meaning | Statements | Served | Not served |\n|---|---|--:|--:|--:|\n")
	count := func(mark string) (n, served int) {
		for _, s := range all {
			if s.mark == mark || mark == "" {
				if n++; s.why == "" {
					served++
				}
			}
		}
		return n, served
	}
	for _, m := range append(seenMarks(), [2]string{"", ""}) {
		n, served := count(m[0])
		name := m[0]
		if name == "" {
			name = "**all**"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", name, m[1], n, served, n-served)
	}
	b.WriteString("\n| About | Mark | What is asked | What the service answers | In the sandbox |\n|---|---|---|---|---|\n")
	for _, s := range all {
		in := "same"
		if s.why != "" {
			in = "not served: " + s.why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.of, s.mark, s.asked, s.answer, in)
	}
	return b.String()
}

func TestEachSeenStatementIsMadeOnceAndHasAKnownMark(t *testing.T) {
	t.Parallel()
	once := map[string]bool{}
	for _, s := range seenInTests() {
		known := false
		for _, m := range seenMarks() {
			known = known || m[0] == s.mark
		}
		if name := s.of + " " + s.asked; !known || once[name] || s.answer == "" || strings.ContainsAny(s.asked+s.answer+s.why, "|\n") {
			t.Errorf("%+v", s)
		} else {
			once[name] = true
		}
	}
}
