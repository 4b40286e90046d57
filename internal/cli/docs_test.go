package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
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

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

//nolint:gochecknoglobals // the flag package works with variables
var update = flag.Bool("update", false, "write the reference pages anew")

// TestReferencePagesAreCurrent holds docs/ to the code that it is made from.
func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"commands.md":     commandsPage(),
		"planform.1":      manPage(),
		"manifest.md":     manifestPage(t),
		"availability.md": availabilityPage(),
		"operations.md":   operationsPage(),
		"llms.txt":        indexPage(t),
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
	page = strings.NewReplacer("\n## ", "\n# ", "\n### ", "\n## ", "| flag | meaning |\n|---|---|\n", "", "| command | shows |\n|---|---|\n", "", "<", "\\<").Replace(page)
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
	b.WriteString(generated + "# Commands\n\nFlags may stand anywhere. Flags that many commands share are listed at the end. Three rules hold everywhere:\n\n" +
		"- **Kinds.** A kind is `work_item`, and a list of its objects `work_items`. Manifests and addresses write them so. As a word of the command line, " +
		"such as in `get work-items`, `explain work-item` or `--no-create work-item`, `-` and `_` are the same.\n" +
		"- **Results.** `--to DIR` writes files into a folder, `--out FILE` saves a plan, and `--output FORMAT` chooses the form of the result on standard output.\n" +
		"- **Streams.** Results go to standard output, everything else to standard error.\n")
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
		if cmd.Name == "get" {
			b.WriteString("\n| command | shows |\n|---|---|\n")
			for _, sub := range cmd.Subcommands {
				fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimPrefix(sub.UsageText, "planform "), upper(strings.TrimPrefix(sub.Usage, "reads ")))
			}
			b.WriteString("\nA project or work item is given by its ID or its identifier, such as `WEB` or `WEB-7`; everything else by its ID. " +
				"Each has the [service flags](#service-flags) and the [output flags](#output-flags).\n")
			return
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

func TestEveryHelpShowsAtMostTenUsualFlagsFirst(t *testing.T) {
	t.Parallel()
	var check func(commands []*cli.Command, path string)
	check = func(commands []*cli.Command, path string) {
		for _, cmd := range commands {
			var usual []string
			for _, f := range cmd.Flags {
				if groupOf(f).flags == nil && !isHidden(f) {
					usual = append(usual, f.Names()[0])
				}
			}
			if len(usual) > 10 {
				t.Errorf("%s %s has %d usual flags: %s", path, cmd.Name, len(usual), usual)
			}
			check(cmd.Subcommands, path+" "+cmd.Name)
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
		if !ok || isHidden(f) {
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

func manifestPage(t *testing.T) string {
	t.Helper()
	tour, err := os.ReadFile(filepath.Join("..", "..", "examples", "tour.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(generated + `# The manifest

A manifest is YAML (or JSON). Any number of documents and files are merged. Only fields that you write are managed.
Inside each kind, ` + "`planform explain work_item.state`" + ` shows the same in the terminal. [Availability](availability.md) says which API and
edition has a kind or field.

This one has one of each thing:

` + "```yaml\n" + string(tour) + "```\n" + `
## At the top

` + propertyTable(schema.TopLevel()) + `| ` + "`x-...`" + ` | anything | Ignored: a place for YAML anchors. |
| a list below | objects | A manifest without objects is an error, except with ` + "`--prune`" + `. |

## In every object

` + propertyTable(slices.DeleteFunc(schema.Common(resource.MustLookup("page")), func(p schema.Property) bool { return p.Name == schema.Identifier })) + `
` + "`folder`" + ` is for pages only. A kind that is a mapping and no list, such as ` + "`features`" + `, takes only ` + "`ignore_changes` and `on_drift`" + ` of these.

A text that is sent as HTML may link to ` + textTargets() + ` of the manifests by its address:
` + "`[the shop](planform:work_item/web/shop)`" + `, in HTML as href. On the service the link leads to its page. A link to an attachment leads to the file.
An image shows it: ` + "`![the plan](planform:attachment/web/shop/plan-png)`" + `, in HTML as src.
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
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Path(), holds(f),
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

// TestThePageOfTheManifestListsEveryFieldThatTheSchemaKnows looks for the properties of the top and of each kind in their tables.
func TestThePageOfTheManifestListsEveryFieldThatTheSchemaKnows(t *testing.T) {
	t.Parallel()
	type properties struct{ Properties map[string]any }
	var document struct {
		properties
		Defs map[string]properties `json:"$defs"`
	}
	if err := json.Unmarshal(schema.Document(), &document); err != nil || len(document.Properties) < 10 || len(document.Defs) < 10 {
		t.Fatal(err, len(document.Properties), len(document.Defs))
	}
	page := "\n" + manifestPage(t)
	section := func(after string) string {
		_, text, _ := strings.Cut(page, after)
		text, _, _ = strings.Cut(text, "\n#")
		return text
	}
	all := section("\n## In every object\n")
	check := func(in, tables string, of properties) {
		for name := range of.Properties {
			if !strings.Contains(tables, "\n| `"+name+"` |") && !strings.Contains(tables, "\n| `"+name+".") && !strings.Contains(page, "# "+name+"\n") {
				t.Errorf("docs/manifest.md does not name %q of %s", name, in)
			}
		}
	}
	check("the top", section("\n## At the top\n"), document.properties)
	for _, k := range resource.Kinds() {
		if k.Section != "" {
			check(k.Name, section("# "+k.Section+"\n\n"+k.Doc+"\n")+all, document.Defs[k.Name])
		}
	}
}

// TestTheDescriptionOfAKindNamesAPIV2IfAPIV1DoesLess compares the words of people with the operations of the descriptors.
func TestTheDescriptionOfAKindNamesAPIV2IfAPIV1DoesLess(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		if k.Section == "" || k.Parent != "" && operationsIn(resource.MustLookup(k.Parent), resource.V1) == "–" {
			continue // its parent has the words
		}
		if less, said := operationsIn(k, resource.V1) != operationsIn(k, resource.V2), strings.Contains(k.Doc, "API v2"); less != said {
			t.Errorf("%s: by API v1 %s, by API v2 %s: %s", k.Name, operationsIn(k, resource.V1), operationsIn(k, resource.V2), k.Doc)
		}
	}
}

// operationsIn names the operations by which an API writes objects of a kind.
func operationsIn(k *resource.Kind, api resource.API) string {
	var words []string
	for _, w := range []struct {
		word  string
		verbs []resource.Verb
	}{{"create", []resource.Verb{resource.Create, resource.CreateMany}}, {"change", []resource.Verb{resource.Update, resource.UpdateMany}}, {"delete", []resource.Verb{resource.Delete, resource.DeleteMany}}} {
		if slices.ContainsFunc(k.Operations, func(o resource.Operation) bool { return api.Offers(&o) && slices.Contains(w.verbs, o.Verb) }) {
			words = append(words, w.word)
		}
	}
	return cmp.Or(strings.Join(words, ", "), "–")
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

// propertyTable lists properties with their descriptions.
func propertyTable(properties []schema.Property) string {
	var b strings.Builder
	b.WriteString("| property | holds | notes |\n|---|---|---|\n")
	for _, p := range properties {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, p.Holds, strings.ReplaceAll(p.Doc, "|", "\\|"))
	}
	return b.String()
}

// availabilityPage shows the APIs and editions of kinds and fields, as their descriptors tell them.
func availabilityPage() string {
	var kinds, fields, documented strings.Builder
	var write func(k *resource.Kind, in string)
	write = func(k *resource.Kind, in string) {
		path := strings.TrimPrefix(in+" › "+k.Section, " › ")
		community := "–"
		if slices.Contains(editionsOf(k, nil), "community") {
			community = "yes"
		}
		fmt.Fprintf(&kinds, "| %s | %s | %s | %s | %s |\n", path, operationsIn(k, resource.Documented), operationsIn(k, resource.V1), operationsIn(k, resource.V2), community)
		names := map[string][]string{}
		for i := range k.Fields {
			f := &k.Fields[i]
			note := func(is bool, what string) {
				if is {
					names[what] = append(names[what], "`"+f.Path()+"`")
				}
			}
			v2 := !slices.Contains(apisOf(k, f), "v1") && slices.Contains(apisOf(k, nil), "v1")
			note(v2, "API v2")
			note(!v2 && len(editionsOf(k, f)) < len(editionsOf(k, nil)), "a paid edition")
			note(slices.Contains(apisOf(k, f), "documented"), "documented")
		}
		for _, needs := range []string{"API v2", "a paid edition"} {
			if names[needs] != nil {
				fmt.Fprintf(&fields, "| %s | %s | %s |\n", path, strings.Join(names[needs], ", "), needs)
			}
		}
		if names["documented"] != nil {
			fmt.Fprintf(&documented, "| %s | %s |\n", path, strings.Join(names["documented"], ", "))
		}
		for _, child := range resource.Children(k.Name) {
			write(child, path)
		}
	}
	for _, k := range resource.Children("") {
		write(k, "")
	}
	return generated + `# What my API and edition can do

` + "`planform doctor`" + ` tells which API and edition your service has, and a plan names what it lacks. If your edition lacks a feature, its objects are
skipped: you get one notice, and exit code 3, or 0 with ` + "`--allow-unsupported`" + `. [APIs](apis.md) compares the two APIs.

## Which objects can be created, changed and deleted?

The last column tells whether the community edition has the kind. A paid edition is any other one, also the cloud. planform never deletes a kind that
has no "delete" here.

| list of the manifest | ` + "`--api documented`" + ` | API v1 | API v2 | community |
|---|---|---|---|---|
` + kinds.String() + `
## Which fields need more than their object?

| list | fields | need |
|---|---|---|
` + fields.String() + `
## Which fields can be set with ` + "`--api documented`" + `?

Only these, with the 20 [documented operations](operations.md). Other objects must exist, and are named by their IDs. Existing work items cannot
be changed.

| list | fields |
|---|---|
` + documented.String()
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
