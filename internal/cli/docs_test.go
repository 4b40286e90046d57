package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

//nolint:gochecknoglobals // the flag package works with variables
var update = flag.Bool("update", false, "write the reference pages anew")

// TestReferencePagesAreCurrent holds docs/ to the code that it is made from.
func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"commands.md":   commandsPage(),
		"planform.1":    manPage(),
		"manifest.md":   manifestPage(),
		"operations.md": operationsPage(),
		"llms.txt":      indexPage(t),
	} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		had, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(had), page); diff != "" {
			t.Errorf("docs/%s is not current; go test ./internal/cli -run Reference -update writes it anew:\n%s", name, diff)
		}
	}
}

const generated = "<!-- Made from the code by go test ./internal/cli -run Reference -update; changes here are lost. -->\n\n"

// manPage is the page of the commands as man shows it.
func manPage() string {
	page := strings.TrimPrefix(commandsPage(), generated+"# Commands\n")
	page = strings.NewReplacer("\n## ", "\n# ", "\n### ", "\n## ", "| flag | meaning |\n|---|---|\n", "", "<", "\\<").Replace(page)
	page = regexp.MustCompile(`(?m)^\| (.*?) \| (.*) \|$`).ReplaceAllString(page, "$1\n: $2\n") // a table is too wide for man
	page = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`).ReplaceAllString(page, "$1")             // nor does it follow links
	return string(md2man.Render([]byte("% planform 1\n\n# NAME\n\nplanform - makes a Plane workspace match YAML manifests\n\n# COMMANDS\n" + page)))
}

func commandsPage() string {
	shared := []struct {
		title string
		rows  []string
	}{{"Service flags", flagRows(connectionFlags())}, {"Output flags", flagRows(outputFlags())}}
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\nFlags that many commands share are listed at the end. Flags may stand anywhere.\n")
	var write func(cmd *cli.Command, path, heading string)
	write = func(cmd *cli.Command, path, heading string) {
		fmt.Fprintf(&b, "\n%s %s %s\n\n%s.\n\n```\n%s\n```\n", heading, path, cmd.Name, upper(cmd.Usage), cmd.UsageText)
		if cmd.Description != "" {
			fmt.Fprintf(&b, "\n%s\n", fenced(cmd.Description))
		}
		rows, links := flagRows(cmd.Flags), []string(nil)
		for _, s := range shared {
			own := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return slices.Contains(s.rows, row) })
			if len(rows)-len(own) == len(s.rows) {
				rows, links = own, append(links, "["+strings.ToLower(s.title)+"](#"+slug(s.title)+")")
			}
		}
		b.WriteString(flagTable(rows))
		if len(links) > 0 {
			fmt.Fprintf(&b, "\nAnd the %s.\n", strings.Join(links, " and the "))
		}
		for _, sub := range cmd.Subcommands {
			write(sub, path+" "+cmd.Name, heading+"#")
		}
	}
	for _, cmd := range newApp(Process{Getenv: func(string) string { return "" }}).Commands {
		write(cmd, "planform", "##")
	}
	for _, s := range shared {
		b.WriteString("\n## " + s.title + "\n" + flagTable(s.rows))
	}
	b.WriteString("\n## Exit codes\n\n" + exitCodes + "\n")
	return b.String()
}

func TestEveryHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	var check func(commands []*cli.Command, path string)
	check = func(commands []*cli.Command, path string) {
		for _, cmd := range commands {
			name := path + " " + cmd.Name
			for line := range strings.Lines(commandHelp(cmd, name)) {
				if len(line) > helpWidth+1 {
					t.Errorf("%s --help: %s", name, line)
				}
			}
			check(cmd.Subcommands, name)
		}
	}
	check(newApp(Process{Getenv: func(string) string { return "" }}).Commands, "planform")
}

// TestExamplesInHelpAreCommandLines gives the program each example of a help text, but for what it would do.
func TestExamplesInHelpAreCommandLines(t *testing.T) {
	t.Parallel()
	app := func(ran *bool) *cli.App {
		all := newApp(Process{Getenv: func(string) string { return "" }})
		var disarm func(commands []*cli.Command)
		disarm = func(commands []*cli.Command) {
			for _, cmd := range commands {
				disarm(cmd.Subcommands)
				if len(cmd.Subcommands) == 0 || cmd.Name == "convert" || cmd.Name == "history" {
					cmd.Action = func(*cli.Context) error { *ran = true; return nil }
				}
			}
		}
		disarm(all.Commands)
		return all
	}
	command, end := regexp.MustCompile(`\bplanform [^|&>)]*`), regexp.MustCompile(` # .*`)
	tried := 0
	var try func(commands []*cli.Command)
	try = func(commands []*cli.Command) {
		for _, cmd := range commands {
			try(cmd.Subcommands)
			for line := range strings.Lines(cmd.Description) {
				if !strings.HasPrefix(line, "   ") || strings.HasPrefix(line, "   #") {
					continue
				}
				for _, example := range command.FindAllString(end.ReplaceAllString(line, ""), -1) {
					ran := false
					program := app(&ran)
					args := arrange(program, strings.Fields(strings.ReplaceAll(example, "'", "")))
					if err := program.RunContext(t.Context(), args.args); err != nil || !ran {
						t.Errorf("%s --help: %s: %v", cmd.Name, example, err)
					}
					tried++
				}
			}
		}
	}
	try(app(new(bool)).Commands)
	if tried < 40 {
		t.Errorf("there are only %d examples", tried)
	}
}

// slug is what GitHub makes of a heading.
func slug(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

// fenced sets the indented examples of a help text as code.
func fenced(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.SplitSeq(strings.TrimSpace(text)+"\n", "\n") {
		if indented := strings.HasPrefix(line, "   "); indented != code {
			b.WriteString("```\n")
			code = indented
		}
		b.WriteString(strings.TrimPrefix(line, "   ") + "\n")
	}
	return strings.TrimSpace(b.String())
}

func flagTable(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return "\n| flag | meaning |\n|---|---|\n" + strings.Join(rows, "")
}

func flagRows(flags []cli.Flag) []string {
	var rows []string
	for _, f := range flags {
		d, ok := f.(cli.DocGenerationFlag)
		if !ok || hidden(f) {
			continue
		}
		var names []string
		for _, n := range f.Names() {
			names = append(names, "`"+strings.Repeat("-", min(2, len(n)))+n+"`")
		}
		text := strings.ReplaceAll(d.GetUsage(), "|", "\\|")
		text += defaultText(d)
		rows = append(rows, fmt.Sprintf("| %s | %s |\n", strings.Join(names, ", "), text))
	}
	return rows
}

// textTargets are the kinds that texts can link to.
func textTargets() string {
	var nouns []string
	for _, k := range resource.Kinds() {
		if k.WebPath != "" {
			nouns = append(nouns, diag.A(k.Noun()))
		}
	}
	return strings.Join(nouns[:len(nouns)-1], ", ") + " or " + nouns[len(nouns)-1]
}

func manifestPage() string {
	var b strings.Builder
	b.WriteString(generated + `# The manifest

A manifest is YAML, and so may be JSON: one mapping per document; any number of documents and files are merged.
Only fields that you write are managed. Fields marked ¹ cannot be set with ` + "`--api documented`" + `.
` + "`planform explain work_item.state`" + ` shows the same in the terminal, of one kind or field, with the APIs and editions that have it.

| at the top | holds | notes |
|---|---|---|
` + "| `version` | 1 | Required, once in each file. |" + `
` + "| `workspace` | slug | Where the manifest goes. `--workspace` overrides it; `PLANE_WORKSPACE_SLUG` applies where it is absent. |" + `
` + "| `owner` | name | Whose the objects are, if several manifests share the workspace. What has another owner is not adopted, changed or deleted. [Several teams](teams.md) explains it. |" + `
` + "| `source` | mapping | Where the manifest was exported from. In any other workspace, its IDs and work item identifiers are ignored. |" + `
` + "| `defaults` | mapping of kinds | What objects of a kind in this document have unless they write it. |" + `
` + "| `vars` | mapping of names | Variables of this document, for `${{ vars.NAME }}`. [Many alike](many-alike.md) explains them. |" + `
` + "| `include` | list of files | Manifests that are read too. [Many alike](many-alike.md#include) explains it. |" + `
` + "| `order` | manifest, exact or any | The order in which objects are created, as `--order` says it, which overrides it. `exact` numbers work items as they stand in the manifests, [sub-items too](apis.md). |" + `
` + "| `x-...` | anything | Ignored: a place for YAML anchors. |" + `
| a list below | objects | A manifest without objects is an error, except with ` + "`--prune`" + `. |

Every object also accepts:

| property | holds | notes |
|---|---|---|
` + "| `key` | text | Its name inside the manifests. By default derived from the name. |" + `
` + "| `id` | UUID | ID of an existing object on the service. |" + `
` + "| `previously` | key, or list of keys | Its former keys. After a change of key, the object stays the same one, with everything in it. |" + `
` + "| `protect` | true or false | With `true` it is never deleted, even after it was removed from the manifest. To delete it, apply `protect: false` first. Absent: as last applied. Only the state file keeps this: without it, `--prune` deletes nothing, unless `--delete-unrecorded` is given. |" + `
` + "| `create` | true or false | With `false` it is never created: if it is missing, that is reported, and only objects that depend on it are skipped. |" + `
` + "| `ignore_changes` | list of fields, or `[all]` | Fields that belong to people as soon as the object exists: set when it is created, and never compared afterwards. |" + `
` + "| `on_drift` | overwrite, keep or fail | What becomes of fields that somebody changed on the service since the last apply. Absent: what `--on-drift` says. |" + `
` + "| `for_each`, `as` | list, `{csv: FILE}` or `${{ vars.NAME }}` | Makes one object for each element; `${{ each.NAME }}` is a value of it. [Many alike](many-alike.md) explains it. |" + `
` + "| `folder` | path | Of pages only: makes a page of each Markdown and HTML file in a folder. [Pages from a folder](pages.md) explains it. |" + `

A text that is sent as HTML may name ` + textTargets() + ` of the manifests by a link to its address:
` + "`[the shop](planform:work_item/web/shop)`" + `, in HTML as href. On the service the link leads to its page. A link to an attachment leads to the file, and an image shows it:
` + "`![the plan](planform:attachment/web/shop/plan-png)`" + `, in HTML as src.
`)
	var write func(k *resource.Kind, heading string)
	write = func(k *resource.Kind, heading string) {
		fmt.Fprintf(&b, "\n%s %s\n\n%s\n", heading, k.Section, k.Doc)
		if k.Example != "" {
			fmt.Fprintf(&b, "\n```yaml\n%s\n```\n", k.Example)
		}
		b.WriteString("\n| field | holds | notes |\n|---|---|---|\n")
		if k.Identifier != nil {
			fmt.Fprintf(&b, "| `identifier` | text | %s |\n", k.Identifier.Doc)
		}
		for i := range k.Fields {
			f := &k.Fields[i]
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", f.Path(), mark(k, f), holds(f),
				strings.ReplaceAll(strings.Join(append([]string{f.Doc}, rules(k, f)...), " "), "|", "\\|"))
		}
		for _, child := range resource.Children(k.Name) {
			write(child, heading+"#")
		}
	}
	for _, k := range resource.Children("") {
		write(k, "##")
	}
	return b.String()
}

// TestThePageOfTheManifestNamesWhatTheSchemaKnows looks for each property of the top, and for those that all objects have.
func TestThePageOfTheManifestNamesWhatTheSchemaKnows(t *testing.T) {
	t.Parallel()
	var document struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(schema.Document(), &document); err != nil || len(document.Properties) < 10 {
		t.Fatal(err, len(document.Properties))
	}
	names := []string{schema.Key, schema.ObjectID, schema.Previously, schema.Protect, schema.Create, schema.Ignore, schema.OnDrift, schema.ForEach, schema.As}
	page := manifestPage()
	for _, name := range slices.AppendSeq(names, maps.Keys(document.Properties)) {
		if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "# "+name+"\n") {
			t.Errorf("docs/manifest.md does not name %q", name)
		}
	}
}

// indexPage lists the pages of the site as plain text, in its order, with the first sentence of each.
func indexPage(t *testing.T) string {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	about := func(text string) string {
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			switch {
			case regexp.MustCompile(`^(# |<!--|!\[)`).MatchString(paragraph):
				continue
			case !regexp.MustCompile("^[A-Za-z`*\\[]").MatchString(paragraph):
				return ""
			}
			plain := regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`).ReplaceAllString(paragraph, "$1")
			first, _, _ := strings.Cut(strings.Join(strings.Fields(plain), " "), ". ")
			return ": " + strings.TrimRight(first, ".:")
		}
		return ""
	}
	var b strings.Builder
	b.WriteString("# planform\n\n> planform makes a Plane workspace match YAML manifests. It shows a plan of the changes first, and creates nothing twice.\n\n" +
		"A coding agent begins with [Coding agents](" + site + "agents.md) and `planform explain`.\n")
	section := regexp.MustCompile(`(?m)^(?:  - (\w+):|      - (?:(.+): )?|  - (\w+): )([\w/-]+\.md)?$`)
	nav, _, _ := strings.Cut(read("mkdocs.yml"), "\nvalidation:")
	for _, m := range section.FindAllStringSubmatch(nav, -1) {
		title, page := m[2]+m[3], m[4]
		if page == "" {
			b.WriteString("\n## " + m[1] + "\n\n")
			continue
		}
		if m[3] != "" {
			b.WriteString("\n## " + title + "\n\n")
		}
		source := "docs/" + page
		if root, ok := map[string]string{"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "security.md": "SECURITY.md", "changes.md": "CHANGELOG.md"}[page]; ok {
			source = root
		}
		fmt.Fprintf(&b, "- [%s](%s%s)%s\n", cmp.Or(title, "planform"), site, page, about(read(source)))
	}
	return b.String()
}

// mark tells the fields that the documented operations do not have.
func mark(k *resource.Kind, f *resource.Field) string {
	if f.OnlyV2() || slices.Contains(apisOf(k, f), resource.Documented.String()) {
		return ""
	}
	return " ¹"
}

func operationsPage() string {
	var b strings.Builder
	b.WriteString(generated + "# Operations of the service\n\n`--api documented` uses only the numbered ones, `--api v1` also the others of `/api/v1/`, `--api v2` all.\n\n" +
		"| # | method and path | success | scope | used for |\n|---|---|---|---|---|\n")
	words := map[*resource.Operation]string{}
	for _, r := range reads() {
		words[r.Operation] = ", `get " + r.name + "`"
	}
	for _, o := range resource.Operations() {
		number := "wider"
		if o.Documented() {
			number = strconv.Itoa(o.ContractRow)
		}
		used := o.Kind + words[o]
		fmt.Fprintf(&b, "| %s | %s `%s` | %d | %s | %s |\n", number, o.Method, o.Path, o.Success, o.Scope, used)
	}
	return b.String()
}

func upper(s string) string { return string(bytes.ToUpper([]byte(s[:1]))) + s[1:] }
