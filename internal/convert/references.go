package convert

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/markup"
)

// named matches a possible reference to an issue in Markdown: an address, owner/repo#12, #12 or PROJ-12.
var named = regexp.MustCompile(`https?://[^\s<>()\[\]"|]*[^\s<>()\[\]"|.,;:!?'*_~]|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\\?#\d+|\\?#\d+|[A-Z][A-Z0-9_]*-\d+`)

// refer replaces references to issues in a text by links to their items, or to their old addresses.
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

// referPiece replaces the references in a piece of plain text by links.
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

// showsUpload reports whether a text holds the address of a file that is uploaded with its issue.
func (c *composer) showsUpload(text string) bool {
	for known := range c.uploads {
		if strings.Contains(known, "://") && strings.Contains(text, known) {
			return true
		}
	}
	return false
}

// linkTo returns the label and target of the link that replaces a word; to is "" if the word names no issue or file.
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

// target returns the link target for an issue that text of issue i names: its item, else its old address. It returns "" for i itself and if
// the issue is not known.
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

// reference returns the target of a link to the item, or to an object below it.
func (pl place) reference(kind string, below ...string) string {
	return resource.AddressScheme + string(resource.NewAddress(kind, append([]string{pl.project.Key, pl.key}, below...)...))
}

// title returns the key of the issue as people write it, such as #12 or PROJ-12.
func (i *Issue) title() string {
	if i.Key == strconv.Itoa(i.Number) {
		return "#" + i.Key
	}
	return i.Key
}

// address returns the issue's address in the source, or "".
func (c *composer) address(i *Issue) string {
	if site := c.mapping.Source.Site; i.URL == "" && site != "" && site != "none" {
		return site + strings.ReplaceAll(c.found.browse, "{key}", i.Key)
	}
	return i.URL
}

// page returns the place of the issue at an address, which may end in a title or lead to a comment.
func (c *composer) page(address string) (place, bool) {
	key := pageKey(address)
	at, ok := c.pages[key]
	if cut := strings.LastIndexByte(key, '/'); !ok && cut > 0 {
		at, ok = c.pages[key[:cut]]
	}
	return at, ok
}

// bugPage matches the address of a bug in Bugzilla.
var bugPage = regexp.MustCompile(`(/show_bug\.cgi)\?(?:[^#]*&)?id=([0-9]+)`)

// pageKey returns a normal form of an address that is equal for all addresses of an issue's page.
func pageKey(address string) string {
	address = bugPage.ReplaceAllString(address, "$1/$2?") // Bugzilla writes the ID into the query
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, "?")
	return strings.NewReplacer("/pull/", "/issues/", "/-/work_items/", "/-/issues/").Replace(strings.ToLower(strings.TrimRight(address, "/")))
}
