package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
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
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
