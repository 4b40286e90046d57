package manifest

import (
	"cmp"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// checkItem checks the rules of an object that the schema cannot express, except at properties that were reported.
func (d *decoder) checkItem(it *item) {
	o := it.object
	ok := func(name string) bool { return !slices.Contains(d.broken, name) }
	if it.hasKey && ok(schema.Key) && !resource.ValidKey(o.Key) {
		d.report(schema.Key, d.present.value(schema.Key), "bad-object-key", "a key cannot be "+quote(o.Key),
			"use letters and digits, with dots, underscores or hyphens between them; at most 100 characters")
	}
	if upper := strings.ToUpper(o.Identifier); upper != o.Identifier && ok(schema.Identifier) {
		d.report(schema.Identifier, d.present.value(schema.Identifier), "identifier-case",
			"the service has identifiers in upper case only, not "+quote(o.Identifier), "write "+upper)
	}
	for i := range o.Values {
		v := &o.Values[i]
		f := v.Field
		if v.Null || v.Text == "" {
			continue
		}
		if f.Zone && ok(f.Name) {
			if known, hint := resource.IsZone(v.Text); !known {
				hint = cmp.Or(hint, "write its name in the tz database, such as Europe/Berlin")
				d.reportValue(v, &problem{"bad-time-zone", "there is no time zone " + quote(v.Text), hint})
			}
		}
		switch f.Type { //nolint:exhaustive // other types have no more rules
		case resource.URL:
			if bad := urlProblem(v.Text); bad != nil && ok(f.Name) {
				d.reportValue(v, bad)
			}
		case resource.Date:
			if strings.HasPrefix(v.Text, "0000") && ok(f.Name) {
				d.reportValue(v, &problem{"bad-date", quote(v.Text) + " is not a date", dateHint(v.Text)})
			}
			if f.NotBefore != "" && ok(f.Name) && ok(f.NotBefore) {
				d.checkDateOrder(o, v)
			}
		case resource.File:
			if ok(f.Name) {
				d.readFile(it, v)
			}
		case resource.SecretFile:
			if ok(f.Name) {
				var bad *problem
				v.Secret, bad = d.source.checkSecretFile(v.Text)
				d.reportFile(v, bad)
			}
		case resource.Upload:
			if ok(f.Name) {
				var bad *problem
				v.Content, bad = d.source.readUpload(v.Text)
				d.reportFile(v, bad)
			}
		}
		for _, ref := range append(v.Refs, resource.Reference{Text: v.Text, Position: v.Position}) {
			if hasTab(f, ref.Text) && ok(f.Name) {
				d.reportAt(ref.Position, f.Name, "control-character", f.Name+" contains the control character "+runeName('\t'),
					`remove it; between double quotes a backslash is written \\`)
			}
		}
		if stripped := v.Stripped(); len(stripped) > 0 {
			d.found.add(diag.Diagnostic{
				Severity: diag.Warning, Code: "stripped", Position: v.Position, Path: d.all.items.path(d.present.item) + "." + f.Name,
				Summary: "the service removes " + strings.Join(stripped, ", ") + " from the " + f.Name,
				Hint:    "write it another way, or leave it out",
			})
		}
	}
}

// readFile reads the file that a value names, and takes its text as the value.
func (d *decoder) readFile(it *item, v *resource.Value) {
	f := it.page
	if f == nil {
		f = &pageFile{TextFile: &resource.TextFile{Path: filepath.Join(d.source.dir, filepath.FromSlash(v.Text)), Dir: d.source.dir}}
		f.text, f.isHTML, f.bad = d.source.readPage(v.Text, d.budget.limits.ScalarBytes)
	}
	d.reportFile(v, f.bad)
	v.Text, v.AsHTML, v.File = f.text, f.isHTML, f.TextFile
}

// reportFile reports a file that cannot be used. bad is nil if it can.
func (d *decoder) reportFile(v *resource.Value, bad *problem) {
	if bad != nil {
		bad.summary += ": " + quote(v.Text)
		d.reportValue(v, bad)
	}
}

// reportValue reports a problem with a value.
func (d *decoder) reportValue(v *resource.Value, bad *problem) {
	d.reportAt(v.Position, v.Field.Name, bad.code, bad.summary, bad.hint)
}

// checkDateOrder reports a date that is before the date that must precede it.
func (d *decoder) checkDateOrder(o *resource.Object, v *resource.Value) {
	first, ok := o.Value(v.Field.NotBefore)
	if !ok || first.Null || first.Text <= v.Text { // valid dates in one format can be compared as texts
		return
	}
	d.broken = append(d.broken, v.Field.Name)
	early := problem{"date-order", v.Field.Name + " " + v.Text + " is before " + v.Field.NotBefore + " " + first.Text, ""}
	d.found.report(v.Position, d.all.items.path(d.present.item)+"."+v.Field.Name, early, relatedPlace(v.Field.NotBefore+" is at", first.Position))
}

// urlProblem returns the reason why the service would refuse a URL, or nil.
func urlProblem(text string) *problem {
	reject := func(summary, hint string) *problem {
		return &problem{"bad-url", "the service refuses the URL " + quote(text) + ": " + summary, hint}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return reject("it contains white space", "write %20 for a space")
	}
	u, err := url.Parse(text)
	if err != nil {
		return reject("it cannot be parsed", "")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		hint := "write an address that begins with https:// or http://"
		if u.Scheme == "" && strings.Contains(text, ".") {
			hint = "write https://" + truncate(strings.TrimPrefix(text, "//"))
		}
		return reject("it is neither http nor https", hint)
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || strings.EqualFold(host, "localhost") {
		return nil
	}
	switch {
	case host == "":
		return reject("it has no host", "")
	case !strings.Contains(host, "."):
		return reject("its host is a single word", "write the host in full, such as "+host+".example.com")
	case !isHostName(host):
		return reject("its host name is not valid", "")
	}
	return nil
}

// isHostName reports whether the service accepts a host name. The last part must be a domain of at least two letters.
func isHostName(host string) bool {
	parts := strings.Split(host, ".")
	for _, part := range parts {
		if len(part) == 0 || len(part) > 63 || strings.Trim(part, "-") != part || strings.ContainsFunc(part, notInHostName) {
			return false
		}
	}
	domain := []rune(parts[len(parts)-1])
	return len(domain) > 1 && unicode.IsLetter(domain[0])
}

func notInHostName(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }

// dateHint explains how to write a date.
func dateHint(text string) string {
	const hint = "write it as year-month-day, such as 2026-12-01"
	if len(text) == len("2026-12-01") && text[4] == '-' && text[7] == '-' {
		return "there is no such day in the calendar"
	}
	for _, layout := range []string{
		"2006-1-2", "2006/01/02", "2006/1/2", "20060102", "02.01.2006", "2.1.2006", time.RFC3339,
		"2006-01-02 15:04:05",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return "write " + t.Format(time.DateOnly)
		}
	}
	return hint
}

// colorHint explains how to write a colour.
func colorHint(text string) string {
	hex := strings.TrimPrefix(strings.ToLower(text), "#")
	isHex := hex != "" && strings.Trim(hex, "0123456789abcdef") == ""
	switch {
	case isHex && len(hex) == 3:
		return "write \"#" + strings.Repeat(hex[:1], 2) + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:], 2) + "\""
	case isHex && len(hex) == 6:
		return "write \"#" + hex + "\""
	}
	return "write # and six hexadecimal digits, such as \"#22c55e\""
}
