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

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/schema"
)

// variables are the values that come from outside of the manifests, and what was read of them.
type variables struct {
	values     map[string]string // that the user gave, by name
	getenv     func(string) string
	declared   []string          // names, of all documents
	read       map[string]string // environment variables
	tables     map[string]*value // by file; a nil one could not be read
	readTables map[string]bool   // those whose text was read
}

// ReadVariables are the values of variables in a file: a mapping of texts, numbers and truth values, by name.
func ReadVariables(text []byte) (map[string]string, error) {
	values := map[string]string{}
	var wrong error
	err := yamltext.Documents(bytes.NewReader(text), func(root *node) {
		if root.Kind != mappingNode {
			wrong = diag.WithHint(errors.New("the variables of a file are a mapping"), "write a line NAME: VALUE for each")
			return
		}
		for key, to := range yamltext.Pairs(root.Content) {
			_, twice := values[key.Value]
			switch {
			case twice:
				wrong = fmt.Errorf("line %d: the variable %s is given twice", key.Line, quote(key.Value))
			case to.Kind != scalarNode || isNull(to):
				wrong = fmt.Errorf("line %d: the value of %s is a text or a number, not %s", to.Line, quote(key.Value), describe(to))
				wrong = diag.WithHint(wrong, "lists and mappings stand in the manifest, or in a table: {csv: FILE}")
			default:
				values[key.Value] = to.Value
			}
		}
	})
	return values, cmp.Or(err, wrong)
}

// checkDeclared reports values for variables that no document declares.
func (v *variables) checkDeclared(found *findings) {
	for _, name := range slices.Sorted(maps.Keys(v.values)) {
		if !slices.Contains(v.declared, name) {
			names := slices.Compact(slices.Sorted(slices.Values(v.declared)))
			summary := "--var " + name + ": no manifest declares the variable " + quote(name)
			hint := cmp.Or(diag.OneOf(name, names), "declare it under vars: of a manifest")
			found.report(diag.Position{}, "", problem{"unknown-variable", summary, hint})
		}
	}
}

// declare reads the variables of a document.
func (x *expander) declare(n *node) {
	to := resolved(n)
	if to == nil || to.Kind != mappingNode {
		return // told by the schema
	}
	x.declares = true
	defer func() { x.declares = false }()
	for written, of := range x.each(to) {
		key := resolved(written)
		switch {
		case key == nil || key.Kind != scalarNode || !variableName.MatchString(key.Value):
			x.report(written, nil, "bad-variable", "the name of a variable has letters, digits, - and _, and begins with a letter: not "+describe(written), "")
		case x.vars[key.Value].node != nil:
			x.twice(key.Value, x.vars[key.Value].node, written, schema.Vars)
		default:
			x.given.declared = append(x.given.declared, key.Value)
			x.vars[key.Value] = value{broken(written), x.source.name}
			if v, ok := x.variable(key.Value, written, x.value(of, nil)); ok {
				x.vars[key.Value] = v
			}
		}
	}
}

// variable is the value of a variable: that of the user, or the one that is declared.
func (x *expander) variable(name string, key, n *node) (v value, ok bool) {
	if text, given := x.given.values[name]; given {
		return x.outside(key, "--var "+name, text)
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
			return x.given.table(x, n, file)
		}
		for key, of := range yamltext.Pairs(to.Content) {
			switch key.Value {
			case "env":
				env = resolved(of)
			case "default":
				fallback = of
			default: // it is a mapping for its own sake
				return value{n, x.source.name}, true
			}
		}
	}
	switch {
	case env == nil:
		return value{n, x.source.name}, true
	case env.Kind != scalarNode || !environment.MatchString(env.Value):
		x.report(env, nil, "env-refused", "manifests read environment variables only if their names begin with PLANFORM_, not "+describe(env),
			"whoever writes a manifest must not read the secrets of a CI system; rename the variable, or give --var "+name+"=VALUE")
		return v, false
	}
	text := x.given.getenv(env.Value)
	x.given.read[env.Value] = text
	switch {
	case text != "":
		return x.outside(key, env.Value, text)
	case fallback != nil:
		return value{fallback, x.source.name}, true
	}
	x.report(key, nil, "no-value", "the variable "+name+" has no value: "+env.Value+" is not set",
		"set it, or give --var "+name+"=VALUE, or write a default")
	return v, false
}

// outside is a text from outside of the manifests, in the place of what it is for.
func (x *expander) outside(place *node, from, text string) (value, bool) {
	n, wrong := plain(text, place.Line, place.Column)
	if wrong != "" {
		x.report(place, nil, "bad-variable", from+" "+wrong, "")
		return value{}, false
	}
	return value{n, x.source.name}, true
}

// plain is a text as a plain scalar: a number where it is one. wrong says why it cannot be used.
func plain(text string, line, column int) (n *node, wrong string) {
	n = &node{Kind: scalarNode, Tag: "!!str", Value: normalizeLineEnds(text), Line: line, Column: column}
	if r, bad := controlCharacter(n.Value); bad {
		return nil, "holds the control character " + runeName(r)
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

// table is a CSV file as a list of mappings, a row each. It is read once.
func (v *variables) table(x *expander, at, name *node) (value, bool) {
	if name == nil || name.Kind != scalarNode || isNull(name) {
		x.report(at, nil, "bad-template", "csv names a file, not "+describe(at), "write {csv: colleagues.csv}")
		return value{}, false
	}
	file := filepath.Join(x.source.dir, filepath.FromSlash(name.Value))
	if known, ok := v.tables[file]; ok {
		if known == nil {
			return value{}, false
		}
		return *known, true
	}
	v.tables[file] = nil
	text, bad := x.source.tableText(name.Value, x.budget.limits.ScalarBytes)
	if bad != nil {
		x.report(at, nil, bad.code, bad.summary+": "+quote(name.Value), bad.hint)
		return value{}, false
	}
	v.readTables[file] = true
	list, d := x.rows(file, text)
	if d != nil {
		x.failed = true
		d.File = file
		x.found.add(*d)
		return value{}, false
	}
	read := value{list, file}
	v.tables[file] = &read
	return read, true
}

// tableText reads a CSV file that the manifest names.
func (s *source) tableText(name string, limit int) (string, *problem) {
	var unusable *problem
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".csv" && ext != ".tsv" {
		unusable = &problem{"file-type", "the file is no table by its name", "name a file that ends in .csv or .tsv"}
	}
	text, bad := s.text(name, limit, unusable)
	if bad != nil && bad.code == "file-too-large" {
		bad.hint = "split it, with a for_each for each part"
	}
	return text, bad
}

// rows are the rows of a table.
func (x *expander) rows(file, text string) (*node, *diag.Diagnostic) {
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
			return nil, fail(1, "two columns are called "+quote(name), "the header names each column once")
		}
		names[name] = &node{Kind: scalarNode, Tag: "!!str", Value: name, Line: 1}
	}
	x.budget.spent.bytes += int64(len(text))
	list := &node{Kind: sequenceNode, Tag: "!!seq", Line: 1}
	for {
		row, err := r.Next()
		if err == io.EOF { //nolint:errorlint // as the reader says
			return list, nil
		}
		if err != nil {
			line, summary := tableError(file, err)
			return nil, fail(line, summary, diag.HintOf(err))
		}
		x.budget.spent.elements += 1 + len(r.Header)
		if most, _ := dense(x.budget.spent.bytes); x.budget.spent.elements > min(most, x.budget.limits.Elements) {
			return nil, &diag.Diagnostic{
				Code: "too-large", Position: diag.Position{Line: row.Line},
				Summary: "the table has too many cells for its size", Hint: "split it and apply the parts one after another",
			}
		}
		m := &node{Kind: mappingNode, Tag: "!!map", Line: row.Line, Content: make([]*node, 0, 2*len(r.Header))}
		for i, name := range r.Header {
			if name == "" {
				continue
			}
			cell, wrong := plain(row.Cell(i), row.Line, 1+i)
			if wrong != "" {
				return nil, fail(row.Line, "the cell of "+quote(name)+" "+wrong, "remove it")
			}
			m.Content = append(m.Content, names[name], cell)
		}
		list.Content = append(list.Content, m)
	}
}

// isHeader reports whether the header of a table was read with the right separator.
func isHeader(header []string) bool {
	return !slices.ContainsFunc(header, func(name string) bool { return strings.ContainsAny(name, ";\t\n") })
}

var tablePlace = regexp.MustCompile(`^:(\d+)(?::\d+)?: `)

// tableError takes the words of the reader of tables apart: the line, and the rest.
func tableError(file string, err error) (line int, summary string) {
	summary = strings.TrimPrefix(err.Error(), file)
	if m := tablePlace.FindStringSubmatch(summary); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, summary[len(m[0]):]
	}
	return 1, strings.TrimPrefix(summary, ": ")
}
