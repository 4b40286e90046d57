package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/planform/planform/internal/cli"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// module is the path that every package of the program begins with.
const module = "github.com/planform/planform/"

// allowed is the architecture: what each package may import of the others.
func allowed() map[string][]string {
	return map[string][]string{
		"internal/http/baseurl":    {},
		"internal/text/diag":       {},
		"internal/state/disk":      {},
		"internal/graph":           {},
		"internal/text/markup":     {},
		"internal/plane/resource":  {"internal/text/diag", "internal/text/markup"},
		"internal/text/table":      {"internal/text/diag"},
		"schema":                   {"internal/plane/resource"},
		"manifest":                 {"internal/text/diag", "internal/graph", "internal/text/markup", "internal/plane/resource", "internal/text/table", "internal/text/yamltext", "schema"},
		"internal/text/yamltext":   {},
		"internal/plan/notices":    {"internal/plane/resource", "planner"},
		"internal/plan/authors":    {"internal/plane/resource", "planner"},
		"internal/plan/divergence": {"internal/plane/resource", "planner"},
		"internal/plan/target":     {"internal/text/diag", "internal/plane/resource"},
		"internal/plan/proof":      {"internal/plan/divergence", "internal/plane/resource", "planner"},
		"internal/sync/pull":       {"internal/plan/divergence", "internal/text/diag", "internal/sync/export", "internal/text/markup", "internal/plane/resource", "internal/text/yamltext", "manifest", "planner"},
		"manifest/manifesttest":    {},
		"planner":                  {"internal/text/diag", "internal/graph", "internal/plan/target", "internal/plane/resource"},
		"executor":                 {"internal/text/diag", "internal/plane/resource", "planner"},
		"internal/http/wire":       {"internal/text/diag"},
		"apiclient":                {"internal/http/baseurl", "internal/text/diag", "internal/plane/resource", "internal/http/wire"},
		"internal/state":           {"executor", "internal/http/baseurl", "internal/text/diag", "internal/state/disk", "internal/plane/resource", "internal/http/wire", "planner"},
		"internal/plane/provider":  {"apiclient", "executor", "internal/plan/authors", "internal/plan/notices", "internal/plan/target", "internal/text/diag", "internal/state/disk", "internal/plane/resource", "planner"},
		"internal/sync/doctor":     {"apiclient", "internal/http/baseurl", "internal/text/diag", "internal/plane/resource", "internal/state"},
		"internal/sync/export":     {"apiclient", "internal/text/diag", "internal/state/disk", "internal/graph", "internal/text/markup", "internal/plane/provider", "internal/plane/resource", "manifest", "planner", "schema"},
		"internal/convert": {
			"internal/convert/dates", "internal/convert/encoded", "internal/convert/jira/adf", "internal/convert/jira/wiki", "internal/convert/mapping", "internal/convert/words", "internal/convert/xlsx",
			"internal/text/diag", "internal/state/disk", "internal/graph", "internal/text/markup", "internal/plane/resource", "internal/text/table", "manifest", "schema",
		},
		"internal/convert/dates":     {"internal/text/diag"},
		"internal/convert/encoded":   {"internal/text/diag"},
		"internal/convert/jira/adf":  {"internal/convert/jira/wiki", "internal/text/diag"},
		"internal/convert/jira/wiki": {},
		"internal/convert/mapping":   {"internal/text/diag", "internal/text/yamltext", "manifest"},
		"internal/convert/records":   {"internal/text/diag"},
		"internal/convert/tabular":   {"internal/convert", "internal/convert/dates", "internal/convert/mapping", "internal/convert/records", "internal/convert/words", "internal/text/diag", "internal/text/table"},
		"internal/convert/words":     {},
		"internal/convert/xlsx":      {"internal/text/diag"},
		// A format knows the model and how to read its files, and no other format but tables.
		"internal/convert/jira":      {"internal/convert", "internal/convert/dates", "internal/convert/records", "internal/convert/tabular", "internal/convert/words", "internal/text/diag", "internal/text/table"},
		"internal/convert/described": {"internal/convert", "internal/convert/dates", "internal/convert/jira", "internal/convert/jira/adf", "internal/convert/jira/wiki", "internal/convert/records", "internal/convert/tabular", "internal/convert/words", "internal/text/diag"},
		"internal/convert/formats": {
			"internal/convert", "internal/convert/jira", "internal/convert/described",
			"internal/convert/tabular",
		},
		"internal/state/history":   {"internal/text/diag", "internal/state/disk", "internal/plane/resource", "planner"},
		"internal/state/bucket":    {"internal/http/baseurl", "internal/text/diag", "internal/state", "internal/http/wire"},
		"internal/state/httpstate": {"internal/http/baseurl", "internal/text/diag", "internal/state", "internal/http/wire"},
		"internal/plan/planfile":   {"internal/text/diag", "internal/plane/resource", "planner"},
		"internal/view":            {"executor", "internal/convert", "internal/text/diag", "internal/sync/doctor", "internal/sync/export", "internal/plan/planfile", "internal/plane/resource", "planner"},
		"internal/sandbox":         {},
		// Only tests import it.
		"internal/sandbox/sandboxtest":     {"internal/sandbox"},
		"internal/state/bucket/buckettest": {},
		"internal/docs":                    {},
		"internal/sample":                  {},
		"internal/simulation":              {},
		"internal/cli": {
			"apiclient", "executor", "internal/state/bucket", "internal/convert", "internal/convert/encoded", "internal/convert/formats", "internal/text/diag", "internal/state/disk", "internal/sync/doctor", "internal/sync/export", "internal/state/history", "internal/state/httpstate", "internal/plan/divergence", "internal/plan/planfile", "internal/plan/proof", "internal/plan/target", "internal/plane/provider", "internal/sync/pull", "internal/plane/resource", "internal/sandbox",
			"internal/state", "internal/view", "internal/text/yamltext", "manifest", "planner", "schema",
		},
		"": {"internal/cli"},
	}
}

// only says which package alone may import a library.
func only() map[string]string {
	return map[string]string{
		"gopkg.in/yaml.v3":                         "manifest, internal/convert/mapping, internal/text/yamltext",
		"github.com/santhosh-tekuri/jsonschema/v5": "schema",
		"github.com/sergi/go-diff/diffmatchpatch":  "internal/view",
		"github.com/urfave/cli/v2":                 "internal/cli",
		"go.etcd.io/bbolt":                         "internal/sandbox",
		"github.com/natefinch/atomic":              "internal/state/disk",
		"net/http":                                 "apiclient, internal/http/wire, internal/sandbox, internal/sandbox/sandboxtest, internal/state/bucket, internal/state/bucket/buckettest, internal/state/httpstate",
		"github.com/minio/minio-go/v7":             "internal/state/bucket",
		"net/http/httptest":                        "internal/sandbox/sandboxtest, internal/state/bucket/buckettest",
	}
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	rules, owners := allowed(), only()
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath+"/", module)
		name = strings.TrimSuffix(name, "/")
		rule, known := rules[name]
		if !known {
			t.Errorf("package %q has no rule: say here what it may import", name)
		}
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(rule, own) {
				t.Errorf("%q must not import %q", name, own)
			}
			if owner, ok := owners[imported]; ok && !slices.Contains(strings.Split(owner, ", "), name) {
				t.Errorf("%q must not import %s, which belongs to %s", name, imported, owner)
			}
		}
	}
}

// A transport without package wire would have no limits, and would wait for ever for what follows a switch of protocols.
func TestOnlyWireMakesAWayToAServer(t *testing.T) {
	t.Parallel()
	ways := regexp.MustCompile(`\bhttp\.(Client|DefaultClient|DefaultTransport|Get|Post|PostForm|Head)\b|\bhttp\.Transport\b[^)]|new\(http\.|\b(net|tls)\.(Dial\w*)\b`)
	eachSource(t, func(name string, text []byte) {
		if strings.HasSuffix(filepath.Base(filepath.Dir(name)), "test") || strings.HasPrefix(name, "internal/http/wire/") {
			return
		}
		for n, line := range strings.Split(string(text), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if way := ways.FindString(code); way != "" {
				t.Errorf("%s:%d: %s: only internal/http/wire makes a way to a server; use wire.New and wire.Send", name, n+1, way)
			}
		}
	})
}

// eachSource calls do with each Go file of the tree that is no test.
func eachSource(t *testing.T, do func(name string, text []byte)) {
	t.Helper()
	eachFile(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, "_test.go") {
			do(name, text)
		}
	})
}

// eachFile calls do with each Go file of the tree.
func eachFile(t *testing.T, do func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			do(filepath.ToSlash(path), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACommentBeginsWithTheNameThatItDocuments(t *testing.T) {
	t.Parallel()
	byPronoun := regexp.MustCompile(`^((A|An|The) )?\w+ (is|are|was|were) (what|whose|those|that|who|whom|which|how|where|when|until|as much as|one that)\b`)
	files := token.NewFileSet()
	check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		text := cmp.Or(comments...).Text()
		first, rest, _ := strings.Cut(text, " ")
		if first != name.Name && slices.Contains([]string{"A", "An", "The"}, first) {
			first, _, _ = strings.Cut(rest, " ")
		}
		switch at := files.Position(name.Pos()); {
		case text == "": // no comment, or a directive alone
		case strings.TrimRight(first, ",.:;\n") != name.Name:
			t.Errorf("%s: the comment of %s begins with %q: begin it with the name", at, name.Name, first)
		case byPronoun.MatchString(text):
			t.Errorf("%s: %q: define it by a verb or a noun", at, byPronoun.FindString(text))
		}
	}
	eachSource(t, func(name string, text []byte) {
		file, err := parser.ParseFile(files, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				check(decl.Name, decl.Doc)
			case *ast.GenDecl:
				if decl.Lparen.IsValid() { // the comment of a group has no name
					decl.Doc = nil
				}
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						check(spec.Name, spec.Doc, decl.Doc)
					case *ast.ValueSpec:
						check(spec.Names[0], spec.Doc, decl.Doc)
					}
				}
			}
		}
	})
}

func TestAReceiverMeansOneTypeInAPackage(t *testing.T) {
	t.Parallel()
	method := regexp.MustCompile(`(?m)^func \((\w+) \*?(\w+)`)
	meanings := map[string]string{} // of a receiver's name, and of a type, in a folder
	check := func(folder, name, meaning string) {
		if known := cmp.Or(meanings[folder+" "+name], meaning); known != meaning {
			t.Errorf("%s: %s goes with %s and %s", folder, name, known, meaning)
		}
		meanings[folder+" "+name] = meaning
	}
	eachFile(t, func(name string, text []byte) {
		for _, m := range method.FindAllStringSubmatch(string(text), -1) {
			if folder, receiver, kind := filepath.Dir(name), m[1], m[2]; receiver != "_" {
				check(folder, "receiver "+receiver, kind)
				check(folder, "type "+kind, receiver)
				if len(receiver) > 2 {
					t.Errorf("%s: the receiver %s is longer than two letters", name, receiver)
				}
			}
		}
	})
}

func TestTheArchitecturePageNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/contributors/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z]+(?:/[a-z_]+)*/[a-z_]+\\.go)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 10 {
		t.Fatalf("only %d files", len(names))
	}
	for _, name := range names {
		if _, err := os.Stat(name[1]); err != nil {
			t.Error(err)
		}
	}
}

func TestMain(m *testing.M) {
	sandboxtest.TempInMemory()
	testscript.Main(m, map[string]func(){"planform": func() {
		if _, given := os.LookupEnv("PLANE_API_KEY"); !given && os.Getenv(keyFile) != "" {
			key, err := os.ReadFile(os.Getenv(keyFile))
			if err != nil || os.Setenv("PLANE_API_KEY", string(key)) != nil {
				os.Exit(1)
			}
		}
		os.Exit(cli.Main(cli.System()))
	}})
}

// keyFile is the variable of scripts that names a file with the API key: what fails shows its variables.
const keyFile = "key_file"

// services gives the stories workspaces of a service in place of the sandbox: docs/contributors/testing.md shows how.
//
//nolint:gochecknoglobals // the flags of a test are global
var services = sandboxtest.ServiceFlags()

// TestScripts runs the stories of testdata: one for each behaviour that a user sees.
func TestScripts(t *testing.T) {
	t.Parallel()
	has := &edition{}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "shows": shows},
		Condition: func(name string) (bool, error) {
			kind, isKind := strings.CutPrefix(name, "has:")
			switch {
			case name == "sandbox":
				return !services.Given(), nil
			case isKind:
				return has.kind(kind)
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GOGC", strconv.Itoa(sandboxtest.GCPercent))
			if err := place(t.Context(), env, has); err != nil {
				return err
			}
			return os.CopyFS(filepath.Join(env.WorkDir, "examples"), sandboxtest.Examples("."))
		},
	})
}

// place tells a script where it runs: $service is the flag that says so, $workspace the slug, $state the path of its state file.
func place(ctx context.Context, env *testscript.Env, has *edition) error {
	if !services.Given() {
		env.Setenv("service", "--sandbox")
		env.Setenv("workspace", sandbox.Workspace)
		env.Setenv("state", ".planform/sandbox_"+sandbox.Workspace+".state.json")
		return nil
	}
	s, err := services.Next()
	if err != nil {
		return err
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return err
	}
	env.Setenv("service", "--base-url="+s.URL)
	env.Setenv("workspace", s.Workspace)
	env.Setenv("state", ".planform/"+strings.ReplaceAll(address.Host, ":", "-")+"_"+s.Workspace+".state.json")
	env.Setenv(keyFile, filepath.Join(env.WorkDir, ".tmp", "key"))
	if err := os.WriteFile(env.Getenv(keyFile), []byte(s.Key), 0o600); err != nil {
		return err
	}
	env.Setenv("PLANE_WORKSPACE_SLUG", s.Workspace)
	if err := s.Seed(ctx); err != nil {
		return err
	}
	has.ask.Do(func() { has.err = has.look(ctx, s) })
	return has.err
}

// edition is what the service has, which is asked of it once. The sandbox has everything.
type edition struct {
	ask       sync.Once
	err       error
	Supported []string
	HasV2     bool `json:"has_v2"`
}

func (e *edition) look(ctx context.Context, s sandboxtest.Service) error {
	doctor := exec.CommandContext(ctx, "planform", "doctor", "--base-url", s.URL, "--workspace", s.Workspace, "--output", "json")
	out, err := doctor.Output()
	if err != nil {
		return fmt.Errorf("planform doctor: %w: %s", err, out)
	}
	return json.Unmarshal(out, e)
}

// kind reports whether the service has a kind of object, or an API v2.
func (e *edition) kind(name string) (bool, error) {
	_, known := resource.Lookup(name)
	switch {
	case !known && name != "v2":
		return false, fmt.Errorf("there is no kind %q", name)
	case !services.Given():
		return true, nil
	case name == "v2":
		return e.HasV2, nil
	}
	return slices.Contains(e.Supported, name), nil
}

// exits runs a command and wants one exit code: exits 64 planform apply --nonsense.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENTS]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// shows runs a command until a line that it prints is as wanted: a service writes down later who did what.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: shows PATTERN COMMAND [ARGUMENTS]")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for range 60 {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		<-time.After(time.Second)
	}
	ts.Fatalf("no match for %#q", args[0])
}
