package convert

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/markup"
	"github.com/planform/planform/internal/resource"
)

// named is what may name an issue: an address, owner/repo#12, #12 or PROJ-12, as Markdown writes them.
var named = regexp.MustCompile(`https?://[^\s<>()\[\]"|]*[^\s<>()\[\]"|.,;:!?'*_~]|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\\?#\d+|\\?#\d+|[A-Z][A-Z0-9_]*-\d+`)

// refer links a text to the items of the issues that it names, or to their old addresses.
func (c *composer) refer(i *Issue, text string) string {
	if !c.showsUpload(text) &&
		!slices.ContainsFunc(named.FindAllString(text, -1), func(word string) bool { _, to := c.linkTo(i, word); return to != "" }) {
		return text // parsing takes longer than looking
	}
	return markup.Rewriter{
		Text: func(piece string) string { return c.referPiece(i, piece) },
		Link: func(target string) (string, string) {
			if !strings.HasPrefix(target, "http") {
				return "", ""
			}
			label, to := c.linkTo(i, target)
			if strings.HasPrefix(to, resource.AddressScheme) {
				c.report.linked++
			}
			return to, label
		},
	}.Rewrite(text)
}

// referPiece is a piece of plain text with links.
func (c *composer) referPiece(i *Issue, piece string) string {
	var b strings.Builder
	last := 0
	for _, m := range named.FindAllStringIndex(piece, -1) {
		start, stop := m[0], m[1]
		word := piece[start:stop]
		label, to := c.linkTo(i, word)
		if to == "" || !strings.HasPrefix(word, "http") && !standsAlone(piece, start, stop) {
			continue
		}
		if strings.HasPrefix(to, resource.AddressScheme) {
			c.report.linked++
		}
		b.WriteString(piece[last:start] + "[" + label + "](" + to + ")")
		last = stop
	}
	return b.String() + piece[last:]
}

// showsUpload reports a text that names a file of its issue by its address.
func (c *composer) showsUpload(text string) bool {
	for known := range c.uploads {
		if strings.Contains(known, "://") && strings.Contains(text, known) {
			return true
		}
	}
	return false
}

// linkTo is the link that stands in place of a word which may name an issue; to is "" if it names none.
func (c *composer) linkTo(i *Issue, word string) (label, to string) {
	address := strings.HasPrefix(word, "http")
	switch file, ok := c.uploads[word]; {
	case address && ok:
		return plain(file.name), file.link
	case c.mapping.Text.NoLinks:
		return "", ""
	case !address:
		return word, c.target(i, strings.ReplaceAll(word, "\\", ""))
	}
	if at, ok := c.page(word); ok {
		return at.issue.title(), at.reference("work_item")
	}
	return "", ""
}

// standsAlone reports whether a part of a text is no part of a longer word or path.
func standsAlone(text string, start, stop int) bool {
	const inWords = `/\#&!@=-_.`
	isWord := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
	}
	if start > 0 && (isWord(text[start-1]) || strings.IndexByte(inWords, text[start-1]) >= 0) {
		return false
	}
	rest := text[stop:]
	return rest == "" || !isWord(rest[0]) && (len(rest) == 1 || strings.IndexByte(`/\#&@=-_.`, rest[0]) < 0 || !isWord(rest[1]))
}

// target is what a link to the issue of that name leads to: its item, else its old address; "" = there is no such issue.
func (c *composer) target(i *Issue, name string) string {
	project, key, numbered := strings.Cut(name, "#")
	at, ok := c.placed[cmp.Or(project, i.Project)+"/"+key]
	if !ok && project == "" {
		at, ok = c.unique[key]
	}
	if !numbered {
		if at, ok = c.find(i, name); !ok {
			at, ok = c.moved[name]
		}
	}
	switch {
	case ok && at.issue == i:
		return ""
	case ok:
		return at.reference("work_item")
	}
	old, ends := strings.CutSuffix(c.address(i), i.Key)
	if numbered {
		_, err := strconv.Atoi(i.Key)
		if ends = ends && err == nil; project != "" && project != i.Project {
			ends = ends && strings.Contains(old, "/"+i.Project+"/")
			old = strings.Replace(old, "/"+i.Project+"/", "/"+project+"/", 1)
		}
		if ends {
			return old + key
		}
		return ""
	}
	prefix, _, _ := strings.Cut(name, "-")
	if _, known := c.found.projects[prefix]; ends && (known || strings.HasPrefix(i.Key, prefix+"-")) {
		return old + name
	}
	return ""
}

// reference is the target of a link to the item, or to an object below it.
func (p place) reference(kind string, below ...string) string {
	return resource.AddressScheme + string(resource.NewAddress(kind, append([]string{p.project.Key, p.key}, below...)...))
}

// title is how people name the issue.
func (i *Issue) title() string {
	if i.Key == strconv.Itoa(i.Number) {
		return "#" + i.Key
	}
	return i.Key
}

// address is the issue's address in the source, or "".
func (c *composer) address(i *Issue) string {
	if site := c.mapping.Source.Site; i.URL == "" && site != "" && site != "none" {
		return site + strings.ReplaceAll(c.found.browse, "{key}", i.Key)
	}
	return i.URL
}

// page is the issue whose page has an address, which may end in a title or lead to a comment.
func (c *composer) page(address string) (place, bool) {
	key := pageKey(address)
	at, ok := c.pages[key]
	if cut := strings.LastIndexByte(key, '/'); !ok && cut > 0 {
		at, ok = c.pages[key[:cut]]
	}
	return at, ok
}

var bugPage = regexp.MustCompile(`(/show_bug\.cgi)\?(?:[^#]*&)?id=([0-9]+)`)

// pageKey is the same for all addresses of an issue's page.
func pageKey(address string) string {
	address = bugPage.ReplaceAllString(address, "$1/$2?") // which issue it is, Bugzilla says behind the ?
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return strings.NewReplacer("/pull/", "/issues/", "/-/work_items/", "/-/issues/").Replace(strings.ToLower(strings.TrimRight(address, "/")))
}
