package pull

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/markup"
	"github.com/planform/planform/manifest"
)

// takePage plans the edit of a page's file, for its text or for the title of a page in a folder.
func (t *taker) takePage(d *divergence.Field) error {
	v := d.Value
	of, isTitle := v.File, v.Field.Type != resource.File
	field, value, why := export.Encode(d.Object.Kind, v, d.Row, t.pages)
	switch {
	case why != "":
	case of.Path == "":
		why = "it is the name of the folder"
	case isTitle && !isMarkdown(of.Path):
		why = "it is the name of the file, which is HTML"
	case t.pageUsers[of.Path] > 1:
		why = "other objects share the file"
	}
	if why != "" {
		t.addRefusal(d, why)
		return nil
	}
	if _, err := t.readText(of.Path); err != nil {
		return err
	}
	at := len(t.result.Values)
	t.result.Values = append(t.result.Values, Value{
		Object: d.Object, Path: v.Field.Path(), Position: v.Position, Before: d.Change.After, After: d.Change.Before, field: field, file: of.Path,
	})
	edit := pageEdit{object: d.Object, value: at, isTitle: isTitle, text: asText(value)}
	if isTitle {
		t.keepKey(d, edit.text, at)
	} else {
		edit.text = t.linkToFiles(v, edit.text)
	}
	t.within[of.Path], t.pageEdits[of.Path] = of.Dir, append(t.pageEdits[of.Path], edit)
	return nil
}

func isMarkdown(file string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(filepath.Ext(file)))
}

// linkToFiles makes links to pages that are files lead to these files, written as before.
func (t *taker) linkToFiles(v *resource.Value, text string) string {
	link := func(target string) string {
		address, ok := strings.CutPrefix(target, resource.AddressScheme)
		if !ok {
			return ""
		}
		for _, written := range slices.Sorted(maps.Keys(v.Targets)) {
			if v.Targets[written] == address {
				return written
			}
		}
		for _, o := range t.Manifest.Objects {
			if string(o.Address) != address {
				continue
			}
			if name, err := filepath.Rel(filepath.Dir(v.File.Path), pageOf(o)); err == nil && pageOf(o) != "" {
				return filepath.ToSlash(name)
			}
		}
		return ""
	}
	if v.AsHTML {
		return markup.Relink(text, resource.AddressScheme, func(rest string) string {
			target := resource.AddressScheme + rest
			if to := link(target); to != "" {
				return to
			}
			return target
		})
	}
	return markup.Rewriter{
		Text: func(piece string) string { return piece },
		Link: func(target string) (to, label string) { to = link(target); return to, to },
	}.Rewrite(text)
}

// pageOf returns the file that holds the text of an object, or the folder with its page; "" = the manifest itself holds the text.
func pageOf(o *resource.Object) string {
	for _, v := range o.Values {
		switch {
		case v.File == nil:
		case v.File.Titled:
			return o.Position.File
		default:
			return v.File.Path
		}
	}
	return ""
}

// rewritePage returns the content of a page's file with another text or title.
func rewritePage(before []byte, edits []pageEdit) []byte {
	const mark = "\ufeff"
	text, marked := strings.CutPrefix(string(before), mark)
	lines := strings.ReplaceAll(text, "\r\n", "\n")
	head, body, titled := "", lines, false
	for _, e := range edits {
		if v, ok := e.object.Value("file"); ok && v.File.Titled && !titled && isMarkdown(v.File.Path) {
			_, from, _ := manifest.Titled(lines, false)
			head, body, titled = lines[:from], lines[from:], true
		}
		if e.isTitle {
			head = manifest.Retitled(head, e.text)
		} else {
			body = e.text
		}
	}
	whole := strings.TrimRight(head+body, "\n") + "\n"
	if titled {
		if _, from, bad := manifest.Titled(whole, false); (from != len(head) || bad != nil) && strings.TrimSpace(body) != "" { // the text begins like a title
			whole = manifest.Retitled(head, edits[0].object.Name()) + strings.TrimRight(body, "\n") + "\n"
		}
	}
	if strings.Contains(text, "\r\n") {
		whole = strings.ReplaceAll(whole, "\n", "\r\n")
	}
	if marked {
		whole = mark + whole
	}
	return []byte(whole)
}
