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
	"text.go", "cause.go", "not_compared.go", "input.go settings.go", "record.go plan.go", "kind.go", "settle_intents.go", "objects.go identity_rename.go", "load.go", "observe.go", "invitations.go", "settle_creates.go identity_match.go identity_bind.go identity_contradictions.go identity_namesakes.go", "resolve.go", "custom_fields.go", "diff.go", "identity_uploads.go", "governance.go", "members_words.go", "members_edges.go", "members_list.go", "settle_members.go settle_orphans.go",
	"prune_orphans.go prune_checks.go prune_losses.go prune_usage.go", "steps.go", "identity_claims.go", "members_sets.go members_containers.go members_read.go members_decide.go members_drift.go members_where.go", "outsiders.go", "display_names.go", "contents.go", "world.go shown.go", "blocked.go", "change.go change_fields.go change_checks.go change_archive.go links.go", "members_steps.go",
	"prune_steps.go prune_notices.go", "batches.go", "order.go", "bookkeeping.go settle_outcomes.go", "warnings.go secrets.go", "build.go settle.go",
}

// noImports imports nothing: what other packages declare does not matter here.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

// sources are the files of the planner, parsed and with types as far as no other package is needed.
type sources struct {
	fset   *token.FileSet
	byName map[string]*ast.File
	info   *types.Info
	pkg    *types.Package
}

func parse(t *testing.T) *sources {
	t.Helper()
	s := &sources{
		fset: token.NewFileSet(), byName: map[string]*ast.File{},
		info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}},
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		f, err := parser.ParseFile(s.fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.byName[name], all = f, append(all, f)
	}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // what is imported is not known
	s.pkg, _ = conf.Check("planner", s.fset, all, s.info)
	return s
}

// stageOf returns the position of a file among the stages, or -1.
func stageOf(name string) int {
	return slices.IndexFunc(files, func(stage string) bool { return slices.Contains(strings.Fields(stage), name) })
}

func TestNoStageButSettleReadsIntents(t *testing.T) {
	t.Parallel()
	s, readers := parse(t), 0
	for name, f := range s.byName {
		ast.Inspect(f, func(n ast.Node) bool {
			reads := false
			switch read := n.(type) {
			case *ast.SelectorExpr:
				reads = slices.Contains([]string{"PendingIntent", "intent", "Late"}, read.Sel.Name)
			case *ast.IndexExpr:
				reads = strings.HasSuffix(types.ExprString(read.X), "intents")
			}
			switch {
			case reads && strings.HasPrefix(name, "settle"):
				readers++
			case reads:
				t.Errorf("%s: %s reads an intent: a file named settle* has to give the answer", s.fset.Position(n.Pos()), types.ExprString(n.(ast.Expr)))
			}
			return true
		})
	}
	if readers == 0 {
		t.Error("no file named settle* reads an intent: this test looks for the wrong names")
	}
}

// lastOfBind is the last file that may change what is known of an object of the manifest.
const lastOfBind = "identity_uploads.go"

func TestBindingsDoNotChangeAfterBind(t *testing.T) {
	t.Parallel()
	s := parse(t)
	fields, writers := map[types.Object]bool{}, map[types.Object]bool{}
	for _, name := range []string{"binding", "past", "objectState"} {
		of := s.pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		for field := range of.Fields() {
			fields[field] = true
		}
	}
	isField := func(e ast.Expr) bool {
		selector, ok := e.(*ast.SelectorExpr)
		return ok && s.info.Selections[selector] != nil && fields[s.info.Selections[selector].Obj()]
	}
	for name, f := range s.byName {
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				assign, ok := n.(*ast.AssignStmt)
				if !ok || !slices.ContainsFunc(assign.Lhs, isField) {
					return true
				}
				if in, ok := d.(*ast.FuncDecl); ok {
					writers[s.info.Defs[in.Name]] = true
				}
				if stageOf(name) > stageOf(lastOfBind) {
					t.Errorf("%s: %s is changed after bind", s.fset.Position(n.Pos()), types.ExprString(assign.Lhs[0]))
				}
				return true
			})
		}
	}
	if len(writers) < 10 {
		t.Errorf("%d functions bind objects: this test does not find the others", len(writers))
	}
	for id, o := range s.info.Uses {
		if name := s.fset.Position(id.Pos()).Filename; writers[o] && stageOf(name) > stageOf(lastOfBind) && name != "world.go" { // it runs the stages
			t.Errorf("%s: %s changes what is bound", s.fset.Position(id.Pos()), o.Name())
		}
	}
}

func TestAStageUsesOnlyEarlierStages(t *testing.T) {
	t.Parallel()
	s := parse(t)
	for name, f := range s.byName {
		if stageOf(name) < 0 {
			t.Errorf("%s has no place among the files", name)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if of, ok := call.Fun.(*ast.SelectorExpr); ok && (of.Sel.Name == "Kept" || of.Sel.Name == "Open") {
					t.Errorf("%s: %s reads a file, and a plan must not depend on one", s.fset.Position(call.Pos()), types.ExprString(of))
				}
			}
			if of, ok := n.(*ast.StructType); ok {
				for _, field := range of.Fields.List {
					if of := types.ExprString(field.Type); len(field.Names) == 0 && !slices.Contains([]string{"analysis", "diag.List", "Turn", "draft", "binding", "past", "Settings", "*World"}, of) {
						t.Errorf("%s: %s is embedded", s.fset.Position(field.Pos()), of)
					}
				}
			}
			return true
		})
	}
	seen := map[string]bool{}
	for id, o := range s.info.Uses {
		if o.Pkg() != s.pkg || !o.Pos().IsValid() {
			continue
		}
		user, declarer := s.fset.Position(id.Pos()).Filename, s.fset.Position(o.Pos()).Filename
		if what := user + " uses " + o.Name() + " of " + declarer; stageOf(declarer) > stageOf(user) && !seen[what] {
			seen[what] = true
			t.Error(what)
		}
	}
}
