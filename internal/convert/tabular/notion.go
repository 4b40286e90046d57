package tabular

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

var (
	notionDatabase = regexp.MustCompile(`^(.+) ([0-9a-f]{32})(_all)?\.csv$`)
	notionPage     = regexp.MustCompile(`^(?:(.+) )?([0-9a-f]{32})\.md$`)
	notionLink     = regexp.MustCompile(`\([^()]*?([0-9a-f]{32})(?:[^0-9a-f()][^()]*)?\)`)
)

// Columns that a database gets beside its own: the ID of a page, its text and the database.
const (
	notionID   = "Page ID"
	notionText = "Page text"
	notionOf   = "Database"
	notionFrom = "First day" // of a range of dates, of which another column has the last
)

// notion is a database of Notion: its rows as CSV, whose columns have names of their own, and a page of Markdown for each row.
func notion(known []line) *Layout {
	l := anyTable("notion", known)
	l.Tracker, l.Markup = "Notion", convert.Markdown
	l.How = "in Notion: the menu of the database, Export, Markdown & CSV; unpack what is packed within, and name the folder"
	l.Lists, l.Lacks = ", ", "comments and files of properties"
	own := byName(section("notion"))
	l.guess = func(h *header) map[string]string {
		found := guess(known, h)
		for name, field := range found {
			if slices.Contains([]string{"key", "name", "description", "project", "project_name"}, field) { // which the export itself has
				delete(found, name)
			}
		}
		for name, field := range own {
			for _, i := range h.places[fold(name)] {
				found[h.names[i]] = field
			}
		}
		if len(h.names) > 0 {
			found[h.names[0]] = "name" // as Notion writes it
		}
		return found
	}
	l.detects = func(_ *beginning, name string) (string, bool) {
		switch base := path.Base(strings.ReplaceAll(name, "\\", "/")); {
		case notionDatabase.MatchString(base):
			return "the ID in the name of a database", true
		case notionPage.MatchString(base):
			return "the ID in the name of a page", true
		}
		return "", false
	}
	return l
}

// notionFormat reads databases with the pages of their rows.
func notionFormat(last *beginning, known []line) *convert.Format {
	format := notion(known).format(last)
	format.Read = func(ctx context.Context, in convert.Input, to convert.Sink) error {
		l := notion(known)
		n := &notionExport{pages: map[string][]*notionRow{}, guess: l.guess}
		var databases []convert.File
		var views []string
		for _, f := range in.Files {
			base := path.Base(strings.ReplaceAll(f.Name, "\\", "/"))
			if m := notionPage.FindStringSubmatch(base); m != nil {
				if err := n.page(f, m[2]); err != nil {
					return err
				}
				continue
			}
			whole := strings.TrimSuffix(f.Name, ".csv") + "_all.csv"
			if slices.ContainsFunc(in.Files, func(other convert.File) bool { return other.Name == whole }) {
				views = append(views, f.Name)
				continue // it has what one view shows of the other
			}
			databases = append(databases, f)
		}
		if len(databases) == 0 {
			return diag.WithHint(fmt.Errorf("%s: there are pages of Notion, and no database", in.Files[0].Name),
				"export a database, or the page with it, as Markdown & CSV")
		}
		l.Shape = n.shape
		in.Files = databases
		if err := l.read(ctx, in, to); err != nil {
			return err
		}
		if len(views) > 0 {
			to.Note("views-passed-over", diag.Count(len(views), "view")+" passed over, whose rows are in the file of all: "+diag.First(views, 5))
		}
		others := 0
		for _, title := range slices.Sorted(maps.Keys(n.pages)) {
			for _, p := range n.pages[title] {
				if !p.taken {
					others++
					to.Hold(nil, "pages of no row: title", convert.Uncarried, title, 1)
					if text := strings.TrimSpace(p.text); text != "" {
						to.Hold(nil, "pages of no row: text", convert.Uncarried, text, 1)
					}
				}
			}
		}
		if others > 0 {
			to.Note("pages-left-out", diag.Count(others, "page")+" left out, of no row of a database")
		}
		return nil
	}
	return format
}

// notionRow is a page of Markdown.
type notionRow struct {
	id, text string
	taken    bool
}

// notionExport has the pages by their titles.
type notionExport struct {
	pages map[string][]*notionRow
	guess func(*header) map[string]string // what columns hold
}

func (n *notionExport) page(f convert.File, id string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	const most = 16 << 20
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", f.Name, err)
	case len(data) > most:
		return diag.WithHint(fmt.Errorf("%s: the page has more than 16 MiB", f.Name), "divide it, or leave the file out: its row stays")
	}
	title, text, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "# "), "\n")
	title = table.Trim(title)
	n.pages[title] = append(n.pages[title], &notionRow{id: id, text: text})
	return nil
}

// shape makes the table of a database, with the pages of its rows.
func (n *notionExport) shape(in io.Reader, file string) (*nameList, []table.Row, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	wrong := func(err error) error {
		return diag.WithHint(fmt.Errorf("%s: %w", file, err), "the file is damaged: export it again")
	}
	names, err := r.Read()
	if errors.Is(err, io.EOF) {
		return &nameList{}, nil, nil
	}
	if err != nil {
		return nil, nil, wrong(err)
	}
	var found nameList
	for i, name := range append(slices.Clone(names), notionID, notionText, notionOf, notionFrom) {
		if name = table.Trim(strings.TrimPrefix(name, "\ufeff")); name == "" {
			name = place(i)
		}
		found.add(name)
	}
	holds := n.guess(newHeader(found.list))
	database := ""
	if m := notionDatabase.FindStringSubmatch(path.Base(strings.ReplaceAll(file, "\\", "/"))); m != nil {
		database = m[1]
	}
	used := map[*notionRow]bool{}
	seen := map[string]int{}
	var rows []table.Row
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return &found, rows, nil
		}
		if err != nil {
			return nil, nil, wrong(err)
		}
		line, _ := r.FieldPos(0)
		if table.NewRow(line, cells).Filled() == 0 {
			continue
		}
		all := make([]string, len(found.list))
		for i, cell := range cells[:min(len(cells), len(names))] {
			switch name := found.list[i]; holds[name] {
			case "parent", "blocking", "blocked_by", "duplicate", "relates_to":
				all[i] = notionPages(cell)
			case "target_date":
				first, end, ranged := strings.Cut(cell, " → ")
				if all[i] = cell; ranged {
					all[found.places[notionFrom]], all[i] = first, end
				}
			default:
				all[i] = cell
			}
		}
		title := table.Trim(all[0])
		if p, text := n.rowOf(title, found.list, cells, used); p != nil {
			p.taken, used[p] = true, true
			all[found.places[notionID]], all[found.places[notionText]] = p.id, text
		} else {
			key := title
			if seen[title]++; seen[title] > 1 {
				key = fmt.Sprintf("%s (%d)", title, seen[title])
			}
			all[found.places[notionID]] = key
		}
		all[found.places[notionOf]] = database
		rows = append(rows, table.NewRow(line, all))
	}
}

// notionPages are the IDs of the pages that a relation names, or what it names otherwise.
func notionPages(text string) string {
	var all []string
	for _, id := range notionLink.FindAllStringSubmatch(text, -1) {
		all = append(all, id[1])
	}
	if len(all) == 0 {
		return text
	}
	return strings.Join(all, ", ")
}

// rowOf is the page of a row, and its text: of several with one title that whose properties are those of the row most.
func (n *notionExport) rowOf(title string, names, cells []string, used map[*notionRow]bool) (*notionRow, string) {
	var best *notionRow
	var text string
	most := -1
	for _, p := range n.pages[title] {
		if used[p] {
			continue
		}
		rest, same := p.text, 0
		rest = strings.TrimLeft(rest, "\n")
		for {
			line, after, _ := strings.Cut(rest, "\n")
			name, value, ok := strings.Cut(line, ": ")
			i := slices.Index(names, name)
			if !ok || i < 0 || i >= len(cells) || table.Trim(cells[i]) == "" { // the text begins
				break
			}
			rest = after
			if strings.HasPrefix(cells[i], value) {
				same++
				if more, found := strings.CutPrefix(cells[i], value+"\n"); found { // a property of several lines
					rest = strings.TrimPrefix(rest, more+"\n")
				}
			}
		}
		if same > most {
			best, text, most = p, strings.TrimSpace(rest), same
		}
	}
	return best, text
}
