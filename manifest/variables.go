package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// variables holds the values of variables that come from outside the manifests, and the files and environment variables that were read.
type variables struct {
	values     map[string]string // given by the user, by name
	getenv     func(string) string
	declared   []string             // names, in all documents
	read       map[string]string    // environment variables that were read
	tables     map[string]*fileNode // by file; nil = it could not be read
	readTables map[string]bool      // files whose text was read
}

// ReadVariables reads a file of variables: a mapping of names to texts, numbers and truth values.
func ReadVariables(text []byte) (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	err := yamltext.Documents(bytes.NewReader(text), func(root *node) {
		if root.Kind != mappingNode {
			wrong = diag.WithHint(errors.New("a file of variables must be a mapping"), "write a line NAME: VALUE for each")
			return
		}
		for key, to := range yamltext.Pairs(root.Content) {
			_, twice := values[key.Value]
			switch {
			case twice:
				wrong = fmt.Errorf("line %d: the variable %s is given twice", key.Line, quote(key.Value))
			case to.Kind != scalarNode || isNull(to):
				wrong = fmt.Errorf("line %d: the value of %s must be a text or a number, not %s", to.Line, quote(key.Value), describe(to))
				wrong = diag.WithHint(wrong, "write lists and mappings in the manifest, or in a table: {csv: FILE}")
			default:
				values[key.Value] = to.Value
			}
		}
	})
	return values, cmp.Or(err, wrong)
}

// checkDeclared reports given values of variables that no document declares.
func (vs *variables) checkDeclared(found *findings) {
	for _, name := range slices.Sorted(maps.Keys(vs.values)) {
		if !slices.Contains(vs.declared, name) {
			names := slices.Compact(slices.Sorted(slices.Values(vs.declared)))
			summary := "--var " + name + ": no manifest declares the variable " + quote(name)
			hint := cmp.Or(diag.OneOf(name, names), "declare it under vars: of a manifest")
			found.report(diag.Position{}, "", problem{"unknown-variable", summary, hint})
		}
	}
}

// readVariables reads the variables of a document.
func (x *expander) readVariables(n *node) {
	to := resolved(n)
	if to == nil || to.Kind != mappingNode {
		return // the schema reports it
	}
	x.declares = true
	defer func() { x.declares = false }()
	for written, of := range x.eachPair(to) {
		key := resolved(written)
		switch {
		case key == nil || key.Kind != scalarNode || !variableName.MatchString(key.Value):
			x.report(written, nil, "bad-variable", "the name of a variable has letters, digits, - and _, and begins with a letter: not "+describe(written), "")
		case x.vars[key.Value].node != nil:
			x.reportDuplicate(key.Value, x.vars[key.Value].node, written, schema.Vars)
		default:
			x.given.declared = append(x.given.declared, key.Value)
			x.vars[key.Value] = fileNode{brokenNode(written), x.source.name}
			if v, ok := x.readVariable(key.Value, written, x.expandValue(of, nil)); ok {
				x.vars[key.Value] = v
			}
		}
	}
}

// readVariable returns the value of a variable: from the user, from the including document, from the environment, or as declared.
func (x *expander) readVariable(name string, key, n *node) (v fileNode, ok bool) {
	if text, given := x.given.values[name]; given {
		return x.externalValue(key, "--var "+name, text)
	}
	if v, ok = x.source.passed[name]; ok {
		return v, true
	}
	to := resolved(n)
	var env, fallback *node
	switch {
	case to == nil || isBroken(to):
		return v, false
	case isNull(to):
		x.report(key, nil, "no-value", "the variable "+name+" has no value", "give it one with --var "+name+"=VALUE")
		return v, false
	case to.Kind == mappingNode:
		if file, isTable := tableName(to); isTable {
			return x.given.readTable(x, n, file)
		}
		for key, of := range yamltext.Pairs(to.Content) {
			switch key.Value {
			case "env":
				env = resolved(of)
			case "default":
				fallback = of
			default: // an ordinary mapping
				return fileNode{n, x.source.name}, true
			}
		}
	}
	switch {
	case env == nil:
		return fileNode{n, x.source.name}, true
	case env.Kind != scalarNode || !environment.MatchString(env.Value):
		x.report(env, nil, "env-refused", "a manifest can read only environment variables that begin with PLANFORM_, not "+describe(env),
			"a manifest must not read the secrets of a CI system; rename the variable, or give --var "+name+"=VALUE")
		return v, false
	}
	text := x.given.getenv(env.Value)
	x.given.read[env.Value] = text
	switch {
	case text != "":
		return x.externalValue(key, env.Value, text)
	case fallback != nil:
		return fileNode{fallback, x.source.name}, true
	}
	x.report(key, nil, "no-value", "the variable "+name+" has no value: "+env.Value+" is not set",
		"set it, or give --var "+name+"=VALUE, or write a default")
	return v, false
}

// externalValue turns a text from outside the manifests into a value at the position of place.
func (x *expander) externalValue(place *node, from, text string) (fileNode, bool) {
	n, wrong := plainScalar(text, place.Line, place.Column)
	if wrong != "" {
		x.report(place, nil, "bad-variable", from+" "+wrong, "")
		return fileNode{}, false
	}
	return fileNode{n, x.source.name}, true
}

// plainScalar turns a text into a plain scalar, which is a number if the text is one. wrong is the reason why the text cannot be used.
func plainScalar(text string, line, column int) (n *node, wrong string) {
	n = &node{Kind: scalarNode, Tag: "!!str", Value: normalizeLineEnds(text), Line: line, Column: column}
	if r, bad := controlCharacter(n.Value); bad {
		return nil, "contains the control character " + runeName(r)
	}
	if !utf8.ValidString(text) {
		return nil, "is not UTF-8"
	}
	var number json.Number
	if len(text) < 100 && json.Unmarshal([]byte(text), &number) == nil && text[0] != '"' && text != "null" {
		n.Tag = "!!float"
	}
	return n, ""
}

// readTable reads a CSV file as a list of mappings, one for each row. Each file is read once.
func (vs *variables) readTable(x *expander, at, name *node) (fileNode, bool) {
	if name == nil || name.Kind != scalarNode || isNull(name) {
		x.report(at, nil, "bad-template", "csv names a file, not "+describe(at), "write {csv: colleagues.csv}")
		return fileNode{}, false
	}
	file := filepath.Join(x.source.dir, filepath.FromSlash(name.Value))
	if known, ok := vs.tables[file]; ok {
		if known == nil {
			return fileNode{}, false
		}
		return *known, true
	}
	vs.tables[file] = nil
	text, bad := x.source.readTableText(name.Value, x.budget.limits.ScalarBytes)
	if bad != nil {
		x.report(at, nil, bad.code, bad.summary+": "+quote(name.Value), bad.hint)
		return fileNode{}, false
	}
	vs.readTables[file] = true
	list, d := x.readRows(file, text)
	if d != nil {
		x.failed = true
		d.File = file
		x.found.add(*d)
		return fileNode{}, false
	}
	read := fileNode{list, file}
	vs.tables[file] = &read
	return read, true
}

// readTableText reads a CSV file that the manifest names.
func (s *source) readTableText(name string, limit int) (string, *problem) {
	var unusable *problem
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".csv" && ext != ".tsv" {
		unusable = &problem{"file-type", "a table must be a file that ends in .csv or .tsv", "export the table as CSV"}
	}
	text, bad := s.readText(name, limit, unusable)
	if bad != nil && bad.code == "file-too-large" {
		bad.hint = "split it, with a for_each for each part"
	}
	return text, bad
}

// readRows reads the rows of a table.
func (x *expander) readRows(file, text string) (*node, *diag.Diagnostic) {
	fail := func(line int, summary, hint string) *diag.Diagnostic {
		return &diag.Diagnostic{Code: "bad-table", Position: diag.Position{Line: line}, Summary: summary, Hint: hint}
	}
	r, err := table.Open(strings.NewReader(text), file, isHeader)
	if err != nil {
		line, summary := tableError(file, err)
		return nil, fail(line, summary, diag.HintOf(err))
	}
	names := map[string]*node{}
	for _, name := range r.Header {
		if name != "" && names[name] != nil {
			return nil, fail(1, "two columns are called "+quote(name), "give each column a name of its own")
		}
		names[name] = &node{Kind: scalarNode, Tag: "!!str", Value: name, Line: 1}
	}
	x.budget.spent.bytes += int64(len(text))
	list := &node{Kind: sequenceNode, Tag: "!!seq", Line: 1}
	for {
		row, err := r.Next()
		if err == io.EOF { //nolint:errorlint // the reader returns it unwrapped
			return list, nil
		}
		if err != nil {
			line, summary := tableError(file, err)
			return nil, fail(line, summary, diag.HintOf(err))
		}
		x.budget.spent.elements += 1 + len(r.Header)
		if most, _ := densityLimits(x.budget.spent.bytes); x.budget.spent.elements > min(most, x.budget.limits.Elements) {
			return nil, &diag.Diagnostic{
				Code: "too-large", Position: diag.Position{Line: row.Line},
				Summary: "the table has too many cells", Hint: "split it and apply the parts one after another",
			}
		}
		m := &node{Kind: mappingNode, Tag: "!!map", Line: row.Line, Content: make([]*node, 0, 2*len(r.Header))}
		for i, name := range r.Header {
			if name == "" {
				continue
			}
			cell, wrong := plainScalar(row.Cell(i), row.Line, 1+i)
			if wrong != "" {
				return nil, fail(row.Line, "the cell of "+quote(name)+" "+wrong, "remove it")
			}
			m.Content = append(m.Content, names[name], cell)
		}
		list.Content = append(list.Content, m)
	}
}

// isHeader reports whether a header was split at the right separator.
func isHeader(header []string) bool {
	return !slices.ContainsFunc(header, func(name string) bool { return strings.ContainsAny(name, ";\t\n") })
}

var tablePlace = regexp.MustCompile(`^:(\d+)(?::\d+)?: `)

// tableError splits an error of the table reader into its line and its message.
func tableError(file string, err error) (line int, summary string) {
	summary = strings.TrimPrefix(err.Error(), file)
	if m := tablePlace.FindStringSubmatch(summary); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, summary[len(m[0]):]
	}
	return 1, strings.TrimPrefix(summary, ": ")
}
