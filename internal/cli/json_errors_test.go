package cli

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/view"
)

// TestEveryCommandFailsInJSON makes every command fail, as far as it can without a service, and wants an error as JSON and
// nothing else on standard error.
func TestEveryCommandFailsInJSON(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	lines := map[string]string{
		"validate": "-f NONE", "fmt": "-f NONE", "plan": "-f NONE", "apply": "-f NONE", "show": "NONE", "explain": "NONE", "export": "--to NONE", "init": "--to NONE --from WEB",
		"doctor": "-f NONE", "convert": "NONE --to NONE", "convert check": "NONE", "state list": "-f NONE", "state show": "-f NONE page/a",
		"state resolve": "-f NONE page/a", "state import": "-f NONE page/a", "state mv": "-f NONE page/a page/b", "state rm": "-f NONE page/a",
		"sandbox": "--listen nowhere", "completion": "csh", "version": "x", "schema": "x", "get work-item": "WEB-1", "get activities": "--work-item WEB-1",
	}
	var commands func(list []*cli.Command, path string)
	check := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		code := Main(Process{
			Args: append([]string{"planform"}, args...), Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
			Getenv: func(string) string { return "" },
		})
		if code == exitDone {
			t.Errorf("%v: exit code 0", args)
		}
		shown := errs.String()
		if shown == "" { // validate was asked for them
			shown = strings.ReplaceAll(out.String(), "\n", "")
		}
		found := false
		for line := range strings.Lines(shown) {
			var one struct {
				Version     int `json:"format_version"`
				Diagnostics []struct{ Severity, Code, Summary string }
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil || one.Version != view.FormatVersion {
				t.Errorf("%v: %v: %s", args, err, line)
			}
			for _, d := range one.Diagnostics {
				if d.Code == "" {
					t.Errorf("%v: no code: %s", args, line)
				}
				found = found || d.Severity == "error" && d.Summary != ""
			}
		}
		if !found {
			t.Errorf("%v: no error\n%s%s", args, &out, &errs)
		}
	}
	commands = func(list []*cli.Command, path string) {
		for _, cmd := range list {
			name := strings.TrimSpace(path + " " + cmd.Name)
			words := strings.Fields(name)
			check(slices.Concat(words, []string{"--nonsense", "--output", "json"})...)
			if rest, ok := lines[name]; ok || len(cmd.Subcommands) == 0 {
				check(slices.Concat(words, strings.Fields(strings.ReplaceAll(rest, "NONE", none)), []string{"--output=json"})...)
			}
			commands(cmd.Subcommands, name)
		}
	}
	commands(newApp(Process{Getenv: func(string) string { return "" }}).Commands, "")
	check("aply", "-f", "x", "-o", "json")
	check("get", "lynks", "-o=json")
}

func TestAFileThatCannotBeReadIsNoServiceThatCannotBeReached(t *testing.T) {
	t.Parallel()
	missing := &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a file that cannot be opened has the code file":               {missing, "file"},
		"a rename that fails has the code file":                        {&os.LinkError{Op: "rename", Old: "x", New: "y", Err: syscall.EXDEV}, "file"},
		"a socket that does not exist is unreachable":                  {&net.OpError{Op: "dial", Net: "unix", Err: syscall.ENOENT}, "unreachable"},
		"a server that refuses is unreachable":                         {&url.Error{Op: "Get", URL: "https://x", Err: syscall.ECONNREFUSED}, "unreachable"},
		"a server whose certificates cannot be checked is unreachable": {&url.Error{Op: "Get", URL: "https://x", Err: x509.SystemRootsError{Err: missing}}, "unreachable"},
		"a service without a connection is unreachable":                {&apiclient.ConnectionError{}, "unreachable"},
		"a server that does not answer is unreachable":                 {context.DeadlineExceeded, "unreachable"},
	} {
		if code, got := classify(fmt.Errorf("it failed: %w", c.err)); got != c.want || code != exitFailed {
			t.Errorf("%s: %q, exit code %d", name, got, code)
		}
	}
	var out, errs bytes.Buffer
	Main(Process{
		Args:    []string{"planform", "show", t.TempDir(), "--output", "json"},
		Streams: view.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, Getenv: func(string) string { return "" },
	})
	if !strings.Contains(errs.String(), `"code":"file"`) {
		t.Error(errs.String())
	}
}

// TestEachCodeOfAFailureIsOnThePage compares the codes in the code with the table of the page.
func TestEachCodeOfAFailureIsOnThePage(t *testing.T) {
	t.Parallel()
	codes := map[string]bool{}
	note := func(e ast.Expr) {
		if code, ok := e.(*ast.BasicLit); ok && code.Kind == token.STRING && code.Value != `""` {
			codes[strings.Trim(code.Value, `"`)] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for node := range ast.Preorder(file) {
			switch n := node.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "code" && !strings.HasSuffix(name, "_test.go") {
					note(n.Value)
				}
			case *ast.ReturnStmt:
				if name == "exit.go" && len(n.Results) == 2 {
					note(n.Results[1])
					if or, ok := n.Results[1].(*ast.CallExpr); ok {
						note(or.Args[1])
					}
				}
			}
		}
	}
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| code of a failure |")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
		listed[m[1]] = true
	}
	if diff := cmp.Diff(codes, listed); diff != "" || len(codes) < 10 {
		t.Error("docs/compatibility.md:", diff)
	}
}

// TestEachFindingHasACode looks at every place in the code that makes a finding.
func TestEachFindingHasACode(t *testing.T) {
	t.Parallel()
	places := 0
	if err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for node := range ast.Preorder(file) {
			literal, ok := node.(*ast.CompositeLit)
			if !ok {
				continue
			}
			of := ""
			if literal.Type != nil {
				of = types.ExprString(literal.Type)
			}
			elements := literal.Elts
			if strings.HasSuffix(of, "diag.List") {
				for _, element := range literal.Elts {
					if inner, ok := element.(*ast.CompositeLit); ok {
						elements = inner.Elts
					}
				}
			} else if !strings.HasSuffix(of, "Diagnostic") {
				continue
			}
			fields := map[string]bool{}
			for _, element := range elements {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					fields[types.ExprString(pair.Key)] = true
				}
			}
			if fields["Summary"] {
				places++
				if !fields["Code"] {
					t.Errorf("%s: a finding without a code", set.Position(literal.Pos()))
				}
			}
		}
		return nil
	}); err != nil || places < 40 {
		t.Errorf("%d places: %v", places, err)
	}
}
