package convert

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/xlsx"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// Auto is the format name that stands for detection.
const Auto = "auto"

// choice holds the detected format, and the files of the command line by their use.
type choice struct {
	format *Format
	by     string // the sign by which the format was recognised
	files  []File // files of the format
	users  []File // lists of the site's users
	passed []string
	unread []string // of these, files that may be parts of the export
}

// choose detects the format of the files, and checks a format that the user named. Other files of a folder or an archive are passed over,
// unless one seems to be a damaged part of the export.
func choose(name string, formats []*Format, files []File) (*choice, error) {
	chosen := &choice{}
	var missed error // explains a file that was passed over, if there is no export
	fits := func(sheet *xlsx.Sheet) bool {
		found, _, _ := recognise(name, formats, sheet.Text[:min(len(sheet.Text), maxHead)], ".xlsx")
		return found != nil && (name == Auto || found.Name == name)
	}
	for _, file := range files {
		if file.sheet != nil && !fits(file.sheet) && slices.ContainsFunc(file.others, fits) {
			file.found = true // such as a cover, before the sheet with the table
		}
		if file.found && slices.ContainsFunc(formats, func(f *Format) bool { return f.Beside != nil && f.Beside(file.Name) }) {
			chosen.passed = append(chosen.passed, file.Name)
			continue
		}
		head, err := file.head()
		_, other := errors.AsType[noText](err)
		switch {
		case err != nil && (!file.found || looksExported(file.Name) && !other):
			return nil, err
		case err != nil:
			if !other || slices.Contains([]string{".zip", ".gz", ".tgz"}, strings.ToLower(filepath.Ext(file.Name))) {
				missed, chosen.unread = cmp.Or(missed, err), append(chosen.unread, file.Name)
			}
			chosen.passed = append(chosen.passed, file.Name)
			continue
		case listsUsers(head):
			chosen.users = append(chosen.users, file)
			continue
		}
		called := file.Name
		if file.sheet != nil {
			called = ".xlsx"
		}
		found, named, what := recognise(name, formats, head, called)
		if begin := bytes.TrimLeft(head, "\uFEFF \t\r\n"); found == nil && len(head) == maxHead && file.sheet == nil && bytes.ContainsAny(begin[:min(1, len(begin))], "[{") {
			record, err := file.beginning(maxRecord)
			if err != nil {
				return nil, err
			}
			found, named, what = recognise(name, formats, record, file.Name)
		}
		if found == nil {
			tracker := ""
			if named != nil {
				tracker = named.Tracker
			}
			near := nearly(head, file.Name, tracker)
			if _, refused := refusal(head); near != nil && (!file.found || refused && looksExported(file.Name)) && (named == nil || named.Name != "csv") { // csv reads any table
				return nil, near
			}
			missed = cmp.Or(missed, near)
		}
		if name == "xlsx" && file.sheet == nil && !file.found {
			return nil, diag.WithHint(fmt.Errorf("%s: it is no spreadsheet", file.Name), "planform convert csv reads tables that are text")
		}
		if found == nil && named != nil && !file.found {
			found, what = named, "the command line" // its reader has the best error message
		}
		switch {
		case file.found && (found == nil || name != Auto && found.Name != name || file.sheet != nil && chosen.format != nil && found.Name != chosen.format.Name):
			chosen.passed = append(chosen.passed, file.Name)
			isOther := found != nil && found.Name != "csv" && found.Name != "jsonl" // an export of another tracker
			if looksExported(file.Name) && file.sheet == nil && !isOther && len(bytes.Trim(head, "\uFEFF \t\r\n[]{}")) > 0 {
				chosen.unread = append(chosen.unread, file.Name)
			}
			continue
		case found == nil:
			return nil, diag.WithHint(fmt.Errorf("%s:1: it is not a known export", file.Name),
				"planform convert csv reads any table, and asks for its columns; docs/migrate.md says how exports are made")
		case name != Auto && found.Name != name:
			return nil, diag.WithHint(fmt.Errorf("%s:1: it is %s, not %s", file.Name, found.Name, name),
				"recognised by "+what+"; planform convert "+found.Name+" reads it")
		case chosen.format != nil && chosen.format.Name != found.Name:
			return nil, diag.WithHint(fmt.Errorf("%s is %s, and %s is %s", chosen.files[0].Name, chosen.format.Name, file.Name, found.Name),
				"convert one export at a time, or name the format")
		}
		chosen.format, chosen.by, chosen.files = found, cmp.Or(chosen.by, what), append(chosen.files, file)
	}
	if chosen.format == nil && missed != nil {
		return nil, missed
	}
	if chosen.format == nil {
		return nil, diag.WithHint(fmt.Errorf("%s: none of the files is an export in a known format", files[0].Name),
			"docs/migrate.md says how exports are made; planform convert csv FILE reads any table")
	}
	return chosen, nil
}

// recognise detects the format of a file by its beginning. If several formats accept the file, the named format wins.
func recognise(name string, formats []*Format, head []byte, file string) (found, named *Format, what string) {
	for _, f := range formats {
		if f.Name == name {
			named = f
		}
		if words, ok := f.Detect(head, file); ok && (found == nil || f == named) {
			found, what = f, words
		}
	}
	return found, named, what
}

// looksExported reports whether a file name has the extension of an export, so that an unreadable file is an error.
func looksExported(name string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".json", ".jsonl", ".xml"}, strings.ToLower(filepath.Ext(name)))
}

// listsUsers reports whether a file is a list of a site's users: it has columns of IDs and e-mail addresses, and no column of an issue.
func listsUsers(head []byte) bool {
	return slices.ContainsFunc(table.Headers(head), func(header []string) bool {
		r := table.Reader{Header: header}
		work := r.Columns("title", "summary", "subject", "description", "status", "state")
		return len(r.Columns(userIDs()...)) > 0 && len(r.Columns(userEmails()...)) > 0 && len(work) == 0
	})
}
