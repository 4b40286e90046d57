package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

func getCommand(p Process) *cli.Command {
	cmd := &cli.Command{
		Usage:     "shows objects of the service",
		UsageText: "planform get KIND [FLAGS] [ID]",
		Description: `Shows a list of objects with all its pages, or one object: as a table, or with
--output json as the service's array or object. KIND is the list in manifests, such as
work-items or work_items; issues and other words of trackers are understood. The
parent of a list is named by a flag.

   planform get work-items --project WEB
   planform get links --work-item WEB-7
   planform get initiative-labels --output json
   planform get work-item --expand state,labels WEB-7`,
	}
	for _, r := range reads() {
		cmd.Subcommands = append(cmd.Subcommands, getKindCommand(p, r))
	}
	return cmd
}

// read is a read operation that planform get offers.
type read struct {
	*resource.Operation

	name, usage string
}

// reads returns the reads that descriptors name, and the lists of every other kind and membership, ordered by name. If API v1 has
// no list of a kind, API v2 reads it.
func reads() []read {
	var all []read
	named := map[string]bool{} // kinds whose list has a name
	for _, op := range resource.Operations() {
		if op.GetCommand != "" {
			usage := strings.ReplaceAll(strings.ToLower(op.Doc[:1])+strings.TrimSuffix(op.Doc[1:], "."), "`", "") // a phrase for a help text
			all = append(all, read{op, op.GetCommand, usage})
			named[op.Kind] = named[op.Kind] || op.Verb == resource.List
		}
	}
	for _, k := range resource.Kinds() {
		op, ok := anyList(k)
		if !ok || named[k.Name] {
			continue
		}
		plural, of := diag.Plural(k.Noun()), "the workspace"
		if k.Parent != "" {
			of = diag.A(resource.MustLookup(k.Parent).Noun())
		}
		which := "all "
		if k.Singleton {
			which = "the "
		}
		all = append(all, read{op, strings.ReplaceAll(plural, " ", "-"), "reads " + which + plural + " of " + of})
	}
	for _, k := range resource.Memberships() {
		if op, ok := k.Op(resource.ListMembers, resource.V1); ok && op.GetCommand == "" {
			m := k.Membership
			of, field, members := resource.MustLookup(m.Container).Noun(), m.Field, diag.Plural(resource.MustLookup(m.Member).Noun())
			switch {
			case m.ResultKey != "" && named["relations"]: // one answer holds all kinds of them
				continue
			case m.ResultKey != "":
				named["relations"] = true
				all = append(all, read{op, "relations", "reads the relations of " + diag.A(of)})
				continue
			case m.On == m.Member:
				field = members
			}
			all = append(all, read{op, strings.ReplaceAll(of+" "+field, " ", "-"), "reads all " + members + " of " + diag.A(of)})
		}
	}
	slices.SortFunc(all, func(a, b read) int { return strings.Compare(a.name, b.name) })
	return all
}

// anyList returns the list of a kind by API v1, or by API v2 if API v1 has none.
func anyList(k *resource.Kind) (op *resource.Operation, ok bool) {
	if op, ok = k.Op(resource.List, resource.V1); ok {
		return op, true
	}
	return k.Op(resource.List, resource.V2)
}

// flagName returns the name of the flag for a path parameter, such as work-item for work_item_id.
func flagName(param string) string {
	return strings.ReplaceAll(strings.TrimSuffix(param, "_id"), "_", "-")
}

// userParams returns the path parameters that the user gives.
func userParams(op *resource.Operation) []string {
	return slices.DeleteFunc(op.Params(), func(s string) bool { return s == "workspace_slug" })
}

func getKindCommand(p Process, op read) *cli.Command {
	var flags []cli.Flag
	usage := []string{"planform get", op.name}
	positional := ""
	for _, param := range userParams(op.Operation) {
		if param == "identifier" {
			positional = param
			continue
		}
		flags = append(flags, &cli.StringFlag{Name: flagName(param), Usage: "`ID` of the " + strings.ReplaceAll(flagName(param), "-", " ") +
			identifierHint(param)})
		if isDerivable(op.Operation, param) {
			usage = append(usage, "[--"+flagName(param)+" ID]")
		} else {
			usage = append(usage, "--"+flagName(param)+" ID")
		}
	}
	if slices.Contains(op.Query, "expand") {
		flags = append(flags, &cli.StringFlag{Name: "expand", Usage: "`FIELDS` to expand, such as state,labels"})
		usage = append(usage, "[--expand FIELDS]")
	}
	if positional != "" {
		usage = append(usage, "IDENTIFIER")
	}
	return &cli.Command{
		Name: op.name, Aliases: otherNames(op.name), Usage: op.usage, UsageText: strings.Join(usage, " "),
		Flags: slices.Concat(flags, connectionFlags(), outputFlags()),
		Action: func(c *cli.Context) error {
			o := getOptions{operation: op.Operation, service: newConnectionOptions(c, p), params: map[string]string{}, expand: c.String("expand")}
			if err := o.arguments(c, positional); err != nil {
				return err
			}
			switch api := o.service.api; {
			case api == "documented" && !op.Documented():
				return usageError{text: errNoLists.Error(), hint: "use --api auto"}
			case api == "v1" && op.V2():
				return usageError{text: "API v1 cannot list " + strings.ReplaceAll(op.name, "-", " "), hint: "use --api auto"}
			}
			return runGet(c.Context, o, newOutput(c, p))
		},
	}
}

// otherNames returns other names of a kind: with _ as in manifests, and the words of other trackers.
func otherNames(kind string) []string {
	var words []string
	if name := strings.ReplaceAll(kind, "-", "_"); name != kind {
		words = append(words, name)
	}
	for others, here := range elsewhere("kinds") {
		if here == kind {
			words = append(words, others...)
		}
	}
	return words
}

// identifierHint returns a hint for a parameter that accepts a readable identifier, or "" for other parameters.
func identifierHint(param string) string {
	switch param {
	case "work_item_id":
		return ", or its identifier such as WEB-7, which makes --project unnecessary"
	case "project_id":
		return ", or its identifier such as WEB"
	default:
		return ""
	}
}

// isDerivable reports whether the value of a parameter can follow from another one: the project from its work item.
func isDerivable(op *resource.Operation, param string) bool {
	return param == "project_id" && slices.Contains(userParams(op), "work_item_id")
}

// getOptions holds the operation that planform get carries out, with its parameters.
type getOptions struct {
	operation *resource.Operation
	params    map[string]string // by path parameter: ID or readable identifier
	expand    string
	service   connectionOptions
}

// arguments reads the path parameters from the flags and the argument.
func (gt getOptions) arguments(c *cli.Context, positional string) error {
	most := 0
	if positional != "" {
		most = 1
		gt.params[positional] = c.Args().First()
	}
	if c.NArg() > most {
		return usageError{text: "unexpected argument " + c.Args().Get(most), hint: c.Command.UsageText}
	}
	for _, param := range userParams(gt.operation) {
		if param != positional {
			gt.params[param] = c.String(flagName(param))
		}
		switch value := gt.params[param]; {
		case value == "" && !isDerivable(gt.operation, param):
			hint := c.Command.UsageText
			if param == "project_id" {
				hint = "--project WEB, for example; planform get projects lists them"
			}
			return usageError{text: "planform get " + c.Command.Name + " needs " + required(param, positional), hint: hint}
		case value != "" && param != positional && identifierHint(param) == "" && !resource.IsID(value):
			return usageError{
				text: "--" + flagName(param) + " " + value + " is not an ID",
				hint: "an ID has the form 8a234ec6-0000-4000-8000-000000000000",
			}
		}
	}
	return nil
}

func required(param, positional string) string {
	if param == positional {
		return "an identifier such as WEB-7"
	}
	return "--" + flagName(param)
}

func runGet(ctx context.Context, o getOptions, out output) error {
	ctx, release := untilSignal(ctx)
	defer release()
	conn, err := connect(ctx, o.service, o.service.slug(), out)
	if err != nil {
		return err
	}
	defer conn.close() //nolint:errcheck // nothing was written
	defer conn.relay.read(out)()
	if err := o.show(ctx, conn, out); err != nil {
		return conn.explain(ctx, o.service.api, o.project(), err)
	}
	return nil
}

// project returns the project that the flags or a work item's identifier name, or "".
func (gt getOptions) project() string {
	item := cmp.Or(gt.params["work_item_id"], gt.params["identifier"])
	if i := strings.LastIndex(item, "-"); gt.params["project_id"] == "" && i > 0 && !resource.IsID(item) {
		return item[:i]
	}
	return gt.params["project_id"]
}

// show reads the objects and prints them.
func (gt getOptions) show(ctx context.Context, conn *connection, out output) error {
	params, err := conn.resolveParams(ctx, gt.params)
	if err != nil {
		return err
	}
	req := apiclient.Request{Operation: gt.operation, Params: params}
	if gt.expand != "" {
		req.Query = url.Values{"expand": {gt.expand}}
	}
	kind := resource.MustLookup(gt.operation.Kind)
	m := kind.Membership
	if gt.operation.Verb == resource.List || m != nil && m.ResultKey == "" {
		rows, err := conn.client.List(ctx, req)
		switch {
		case gt.operation.V2() && errors.Is(err, apiclient.ErrUnsupported):
			return diag.WithHint(errNoV2, "API v1 cannot list "+diag.Plural(kind.Noun()))
		case err != nil:
			return err
		}
		for i := range rows { // a service may echo the credential
			rows[i] = conn.client.RedactRow(rows[i])
		}
		if out.json {
			if rows == nil {
				rows = []resource.Row{}
			}
			return out.view.JSON(rows)
		}
		switch {
		case m != nil && m.Attribute != nil && gt.operation.V2():
			return out.view.Table(conn.attributes(ctx, m, rows, params))
		case m != nil:
			kind = resource.MustLookup(m.Member)
		}
		return out.view.Table(table(kind, rows, conn.names(ctx, kind, rows, params), gt.project()))
	}
	res, err := conn.client.Do(ctx, req)
	if err != nil {
		return notFound(gt.operation, params["identifier"], err)
	}
	row := conn.client.RedactRow(res.Row)
	if out.json {
		return out.view.JSON(row)
	}
	if m != nil {
		return out.view.Table(conn.relations(ctx, gt.operation.Path, row, params))
	}
	return out.view.Table(record(row))
}

// attributes returns a table of the members of a container with an attribute of the membership, such as a role.
func (c *connection) attributes(ctx context.Context, m *resource.Membership, rows []resource.Row, params map[string]string) (columns []string, cells [][]string) {
	member, names := resource.MustLookup(m.Member), map[string]string{}
	c.addNames(ctx, names, member, params)
	for _, row := range rows {
		id := m.MemberID(row)
		cells = append(cells, []string{m.Attribute.Shown(row), id, names[id]})
	}
	return []string{m.Attribute.Name, "id", member.Noun()}, cells
}

// relations returns a table of related work items with the kind of each relation.
func (c *connection) relations(ctx context.Context, path string, answer resource.Row, params map[string]string) (columns []string, cells [][]string) {
	names := map[string]string{}
	c.addNames(ctx, names, resource.MustLookup("work_item"), params) // items of other projects are shown by their ID
	for _, k := range resource.Memberships() {
		m := k.Membership
		if op, _ := k.Op(resource.ListMembers, resource.V2); op == nil || op.Path != path {
			continue
		}
		for _, row := range m.RowsIn(answer) {
			id, word := m.MemberID(row), m.ResultKey
			if word == resource.EachKey {
				word = m.Attribute.Shown(row)
			}
			cells = append(cells, []string{word, id, names[id]})
		}
	}
	return []string{"relation", "id", "name"}, cells
}

// resolveParams replaces readable identifiers by IDs: WEB-7 of a work item, which also gives its project, and WEB of a project.
func (c *connection) resolveParams(ctx context.Context, given map[string]string) (map[string]string, error) {
	params := maps.Clone(given)
	params["workspace_slug"] = c.workspace
	if item := given["work_item_id"]; item != "" && !resource.IsID(item) {
		find, _ := resource.MustLookup("work_item").Op(resource.Find, resource.Documented)
		res, err := c.client.Do(ctx, apiclient.Request{Operation: find, Params: map[string]string{
			"workspace_slug": c.workspace,
			"identifier":     item,
		}})
		if err != nil {
			return nil, notFound(find, item, err)
		}
		params["work_item_id"] = res.Row.ID()
		if project, ok := res.Row["project"].(string); ok && given["project_id"] == "" {
			params["project_id"] = project
		}
	}
	project, asked := params["project_id"]
	switch {
	case !asked || resource.IsID(project):
		return params, nil
	case project == "":
		return nil, usageError{text: "the project of the work item is not known", hint: "give --project"}
	}
	projects := resource.MustLookup("project")
	list, _ := projects.Op(resource.List, resource.V1)
	rows, err := c.client.List(ctx, apiclient.Request{Operation: list, Params: params})
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("looking up the project %s: %w", project, err), "give the project's ID")
	}
	var names resource.Names
	var codes []string
	for _, row := range rows {
		names.AddRow(projects, row, "")
		codes = append(codes, row.Text("identifier"))
	}
	if ids := names.Named(strings.ToUpper(project)); len(ids) == 1 {
		params["project_id"] = ids[0]
		return params, nil
	}
	return nil, failure{diag.WithHint(errors.New("the service has no project "+project), diag.OneOf(project, codes)), errNotFound}
}

// notFound returns the error of a work item that was looked up by its identifier. It also replaces the error for an unsupported route,
// because an identifier of another form has no route.
func notFound(op *resource.Operation, identifier string, err error) error {
	if op.Verb != resource.Find || !errors.Is(err, apiclient.ErrNotFound) && !errors.Is(err, apiclient.ErrUnsupported) {
		return err
	}
	return failure{diag.WithHint(errors.New("the service has no work item "+identifier), "give an identifier as the service shows it, such as WEB-7"), errNotFound}
}

// names returns the names of objects that the records refer to, by ID. It reads one list for each kind. If a list cannot be read, the
// table shows IDs.
func (c *connection) names(ctx context.Context, kind *resource.Kind, rows []resource.Row, params map[string]string) map[string]string {
	names, read := map[string]string{}, map[string]bool{}
	for i := range kind.Fields {
		f := &kind.Fields[i]
		if f.Ref == "" || read[f.Ref] || !slices.ContainsFunc(rows, func(r resource.Row) bool { v, _ := r.Shown(f); return text(v) != "" }) {
			continue
		}
		read[f.Ref] = true
		if f.Ref == kind.Name {
			c.name(names, rows)
		} else {
			c.addNames(ctx, names, resource.MustLookup(f.Ref), params)
		}
	}
	return names
}

// addNames adds the names of all objects of a kind. It adds none if the list of the kind needs parameters that params lacks.
func (c *connection) addNames(ctx context.Context, names map[string]string, kind *resource.Kind, params map[string]string) {
	list, ok := anyList(kind)
	if !ok {
		return
	}
	if _, missing := list.Expand(params); missing != "" {
		return
	}
	rows, _ := c.client.List(ctx, apiclient.Request{Operation: list, Params: params})
	c.name(names, rows)
}

func (c *connection) name(names map[string]string, rows []resource.Row) {
	for _, r := range rows {
		names[r.ID()] = text(map[string]any(c.client.RedactRow(r)))
	}
}

// table returns the table of records with all short fields that have a value in a record. Records of a kind without a natural key also show
// their time; project is the identifier in front of the numbers of work items.
func table(kind *resource.Kind, rows []resource.Row, names map[string]string, project string) (columns []string, cells [][]string) {
	cells = make([][]string, len(rows))
	always := func(column string, cell func(resource.Row) string) {
		columns = append(columns, column)
		for i, r := range rows {
			cells[i] = append(cells[i], cell(r))
		}
	}
	add := func(column string, cell func(resource.Row) string) {
		if slices.ContainsFunc(rows, func(r resource.Row) bool { return cell(r) != "" }) {
			always(column, cell)
		}
	}
	always("id", resource.Row.ID)
	switch {
	case kind.Numbered() && project != "" && !resource.IsID(project):
		always("identifier", func(r resource.Row) string { return strings.ToUpper(project) + "-" + text(r["sequence_id"]) })
	case kind.Identifier != nil && kind.Identifier.APIName != "":
		always("identifier", func(r resource.Row) string { return text(r[kind.Identifier.APIName]) })
	}
	if len(kind.NaturalKey) == 0 {
		add("time", func(r resource.Row) string { return text(r["created_at"]) })
	}
	for i := range kind.Fields {
		f := &kind.Fields[i]
		if f.Rich() || f.Type == resource.JSON ||
			slices.ContainsFunc(kind.Fields[:i], func(g resource.Field) bool { return g.APIName() == f.APIName() && slices.Contains(columns, g.Name) }) {
			continue
		}
		add(f.Name, func(r resource.Row) string {
			v, _ := r.Shown(f)
			if f.Ref != "" {
				v = named(v, names)
			}
			if word, ok := f.ObservedIn(r); ok && f.Type == resource.Enum {
				v = word
			}
			return text(v)
		})
	}
	add("owner", func(r resource.Row) string {
		owner, _ := r.Owner()
		return string(owner)
	})
	return columns, cells
}

// named replaces IDs by names; an ID without a known name stays.
func named(v any, names map[string]string) any {
	switch v := v.(type) {
	case string:
		return cmp.Or(names[resource.LowerID(v)], v)
	case []any:
		all := make([]any, len(v))
		for i, e := range v {
			all[i] = named(e, names)
		}
		return all
	default:
		return v
	}
}

// record returns the table of one record, with a row for each field.
func record(row resource.Row) (columns []string, cells [][]string) {
	for _, name := range slices.Sorted(maps.Keys(row)) {
		cells = append(cells, []string{name, text(row[name])})
	}
	return []string{"field", "value"}, cells
}

// text returns a value of a record as the text of a cell.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = text(e)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		for _, name := range []string{"name", "display_name", "identifier", "id"} {
			if s, ok := v[name].(string); ok {
				return s
			}
		}
		return fmt.Sprint(v)
	default:
		return fmt.Sprint(v)
	}
}
