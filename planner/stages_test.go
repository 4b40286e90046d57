package planner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"
)

// files is the planner from top to bottom: a file uses only what it declares itself, or a
// file above it. Two files that stand together are one stage.
var files = []string{ //nolint:gochecknoglobals // a constant
	"text.go", "cause.go", "not_compared.go", "input.go settings.go", "record.go plan.go authors.go", "kind.go", "settle_intents.go", "objects.go identity_rename.go", "load.go", "observe.go", "invitations.go", "settle_creates.go identity_match.go identity_bind.go identity_contradictions.go identity_namesakes.go", "resolve.go", "custom_fields.go", "diff.go", "governance.go", "members_words.go", "members_edges.go", "members_list.go", "settle_members.go settle_orphans.go",
	"prune_orphans.go prune_checks.go prune_losses.go prune_usage.go", "steps.go", "identity_claims.go", "members_sets.go members_containers.go members_read.go members_decide.go members_drift.go members_where.go", "outsiders.go", "display_names.go", "divergence.go", "world.go", "blocked.go", "change.go change_fields.go change_checks.go change_archive.go links.go", "members_steps.go",
	"prune_steps.go prune_notices.go", "batches.go", "order.go", "bookkeeping.go settle_outcomes.go", "warnings.go secrets.go", "build.go settle.go",
}

// noImports imports nothing: what other packages declare does not matter here.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

func TestNoStageButSettleReadsIntents(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	readers := 0
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			of, ok := n.(ast.Expr)
			if read, is := n.(*ast.SelectorExpr); is {
				ok = slices.Contains([]string{"PendingIntent", "intent", "Late"}, read.Sel.Name)
			} else if read, is := n.(*ast.IndexExpr); is {
				of, ok = read.X, strings.HasSuffix(types.ExprString(read.X), "intents")
			} else {
				ok = false
			}
			switch {
			case ok && strings.HasPrefix(name, "settle"):
				readers++
			case ok:
				t.Errorf("%s: %s reads an intent: a file named settle* has to give the answer", fset.Position(n.Pos()), types.ExprString(of))
			}
			return true
		})
	}
	if readers == 0 {
		t.Error("no file named settle* reads an intent: this test looks for other names")
	}
}

func TestAStageUsesOnlyEarlierStages(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	place := func(name string) int {
		return slices.IndexFunc(files, func(stage string) bool { return slices.Contains(strings.Fields(stage), name) })
	}
	var parsed []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		if place(name) < 0 {
			t.Errorf("%s has no place among the files", name)
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if of, ok := call.Fun.(*ast.SelectorExpr); ok && (of.Sel.Name == "Kept" || of.Sel.Name == "Open") {
					t.Errorf("%s: %s reads a file, and a plan must not depend on one", fset.Position(call.Pos()), types.ExprString(of))
				}
			}
			if s, ok := n.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					if of := types.ExprString(field.Type); len(field.Names) == 0 && !slices.Contains([]string{"analysis", "diag.List", "Turn", "draft", "binding", "past", "Settings", "*World"}, of) {
						t.Errorf("%s: %s is embedded", fset.Position(field.Pos()), of)
					}
				}
			}
			return true
		})
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // what is imported is not known
	pkg, _ := conf.Check("planner", fset, parsed, info)
	seen := map[string]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		user, declarer := fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename
		if what := user + " uses " + o.Name() + " of " + declarer; place(declarer) > place(user) && !seen[what] {
			seen[what] = true
			t.Error(what)
		}
	}
}
