package manifest

import (
	"cmp"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/markup"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// pageFile is a file that becomes a page, or a folder without a text of its own.
type pageFile struct {
	*resource.TextFile

	place  diag.Position
	name   string // relative to the folder of the manifest
	text   string
	isHTML bool
	bad    *problem // the reason why it cannot be used, or nil
}

// folderOf returns the folder of pages that a mapping names, and the mapping, or nil.
func (c *collector) folderOf(k *kindInfo, entry *node) (folder, of *node) {
	if of = resolved(entry); !schema.TakesFolder(k.Kind) || of == nil || of.Kind != mappingNode {
		return nil, nil
	}
	for key, value := range c.eachPair(of) {
		if key = resolved(key); key != nil && key.Value == schema.Folder {
			return value, of
		}
	}
	return nil, nil
}

// makeFolderPages returns a mapping for each page of a folder.
func (c *collector) makeFolderPages(k *kindInfo, folder, of *node, at string) []*node {
	report := func(n *node, p problem) {
		c.incomplete = true
		c.reportNode(n, at+"."+schema.Folder, p)
	}
	name := resolved(folder)
	if name == nil || isBroken(name) {
		return nil
	}
	if name.Kind != scalarNode || isNull(name) {
		report(folder, problem{"wrong-type", schema.Folder + " names a folder, not " + describe(name), "write {" + schema.Folder + ": docs}"})
		return nil
	}
	w := &pageWalk{collector: c, kind: k}
	var top []*node // properties of the top-level pages
	for key, value := range c.eachPair(of) {
		switch key = resolved(key); {
		case key == nil || key.Value == schema.Folder:
		case key.Value == schema.Key && resolved(value) != nil:
			w.prefix = resolved(value).Value + "."
		case key.Value == k.ParentField:
			top = append(top, key, value)
		case k.props[key.Value].what == isField && !w.isSetByFile(key.Value),
			slices.Contains([]string{schema.Protect, schema.Ignore, schema.OnDrift}, key.Value):
			w.shared = append(w.shared, key, value)
		default:
			report(key, problem{
				"bad-folder", quote(key.Value) + " cannot be set for all pages of a folder: each file gives its own",
				"write a page that has the " + schema.Folder + " under its " + k.Section + ":, or list the pages one by one",
			})
		}
	}
	local, bad := localName(name.Value)
	if bad == nil {
		if w.root, bad = c.source.openFolder(); bad == nil {
			w.makePages(filepath.ToSlash(filepath.Clean(local)), top)
			bad = w.bad
		}
	}
	if bad == nil && len(w.list) == 0 {
		bad = &problem{"file-missing", "the folder contains no pages", "pages are files that end in .md or .html"}
	}
	if bad != nil {
		bad.summary += ": " + quote(name.Value)
		report(folder, *bad)
		return nil
	}
	return w.list
}

// pageWalk makes pages from the files of a folder.
type pageWalk struct {
	*collector

	kind   *kindInfo
	root   *os.Root
	prefix string  // of all keys
	shared []*node // properties of all pages
	list   []*node // the pages
	bad    *problem
}

// isSetByFile reports whether the file of a page gives the field.
func (w *pageWalk) isSetByFile(field string) bool {
	f, _ := w.kind.field(field)
	return f.Rich() || slices.Contains(w.kind.NaturalKey, field)
}

// makePages makes the pages of the folder that the manifest names. If the folder has an index file, its page is the parent of the others.
func (w *pageWalk) makePages(dir string, top []*node) {
	w.walkFolder(dir, "", 0)
	if text, inside := w.takeIndex(dir, w.list); text != "" {
		key := cmp.Or(strings.TrimSuffix(w.prefix, "."), resource.Slug(path.Base(dir)), "index")
		w.prefix, w.list = "", nil
		w.addPage(text, key, false, inside)
	}
	for _, page := range w.list {
		page.Content = append(page.Content, top...)
	}
}

// walkFolder makes the pages of a folder, in the order of their names. Folders and files are sorted together.
func (w *pageWalk) walkFolder(dir, under string, depth int) {
	const deepest = 20
	if info, err := w.root.Stat(filepath.FromSlash(dir)); err == nil && !info.IsDir() { // opening a pipe would block
		w.bad = &problem{"file-unreadable", "it is not a folder", "give a single page with file:"}
		return
	}
	entries, err := fs.ReadDir(w.root.FS(), dir)
	switch w.searched += len(entries); {
	case err != nil:
		w.bad = readProblem(err)
		return
	case w.searched > maxSearched:
		w.bad = &problem{"too-large", "the folders of pages contain more than " + diag.Count(maxSearched, "file"), splitHint}
		return
	case depth > deepest:
		w.bad = &problem{"too-deep", "folders are nested deeper than " + diag.Count(deepest, "level"), ""}
		return
	}
	texts := map[string]string{} // text files beside a folder with the same name, by that name
	for _, e := range entries {
		if stem, isPage := pageName(e.Name()); isPage && !e.IsDir() {
			texts[stem] = e.Name()
		}
	}
	for _, e := range entries {
		stem, isPage := pageName(e.Name())
		within := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || w.bad != nil:
		case e.IsDir():
			inside := &pageWalk{collector: w.collector, kind: w.kind, root: w.root, prefix: w.prefix, shared: w.shared}
			inside.walkFolder(within, under+e.Name()+"/", depth+1)
			w.bad = inside.bad
			text := ""
			if beside, ok := texts[e.Name()]; ok {
				text = path.Join(dir, beside)
			} else if text, inside.list = w.takeIndex(within, inside.list); text == "" && len(inside.list) == 0 {
				continue
			}
			w.addPage(cmp.Or(text, within), under+e.Name(), text == "", inside.list)
		case isPage && !slices.ContainsFunc(entries, func(other fs.DirEntry) bool { return other.IsDir() && other.Name() == stem }):
			w.addPage(within, under+stem, false, nil)
		}
	}
}

// takeIndex takes the index file of a folder out of its pages.
func (w *pageWalk) takeIndex(dir string, inside []*node) (name string, others []*node) {
	for _, stem := range []string{"index", "readme"} {
		for i, n := range inside {
			f := w.pages[n]
			if is, ok := pageName(path.Base(f.name)); ok && strings.EqualFold(is, stem) && path.Dir(f.name) == dir {
				return f.name, slices.Delete(inside, i, i+1)
			}
		}
	}
	return "", inside
}

// addPage adds the page of a file, or of a folder without an index file (bare).
func (w *pageWalk) addPage(name, key string, bare bool, inside []*node) {
	f := &pageFile{TextFile: &resource.TextFile{Dir: w.source.dir, Titled: true}, name: name}
	f.place.File, f.place.Line, f.place.Column = filepath.Join(w.source.dir, filepath.FromSlash(name)), 1, 1
	title := titleFromName(path.Base(key))
	page := &node{Kind: mappingNode}
	add := func(name string, value *node) {
		page.Content = append(page.Content, &node{Kind: scalarNode, Tag: "!!str", Value: name}, value)
	}
	text := func(of string) *node {
		return &node{Kind: scalarNode, Tag: "!!str", Style: doubleQuotedStyle, Value: of}
	}
	add(schema.Key, text(w.prefix+pageKey(key)))
	if !bare {
		f.Path = f.place.File
		var whole string
		if whole, f.isHTML, f.bad = w.source.readPage(name, w.budget.limits.ScalarBytes); f.bad == nil {
			said, from, bad := Titled(whole, f.isHTML)
			if f.text, title = whole[from:], cmp.Or(said, title); bad != nil {
				f.place.Line, f.place.Column, f.bad = bad.Position.Line, bad.Position.Column, &problem{bad.Code, bad.Summary, bad.Hint}
			}
		}
		if w.pageBytes += int64(len(whole)); w.pageBytes > w.budget.limits.FileBytes {
			w.bad = &problem{"too-large", "the folders of pages contain more than " + bytesText(w.budget.limits.FileBytes), splitHint}
		}
		add("file", text(name))
	}
	add(w.kind.NaturalKey[0], text(title))
	if len(inside) > 0 {
		add(w.kind.Section, &node{Kind: sequenceNode, Content: inside})
	}
	page.Content = append(page.Content, w.shared...)
	w.pages[page] = f
	w.list = append(w.list, page)
}

// pageName returns the name of a page's file without its extension.
func pageName(file string) (stem string, ok bool) {
	ext := path.Ext(file)
	stem = strings.TrimSuffix(file, ext)
	return stem, stem != "" && slices.Contains([]string{".md", ".markdown", ".html", ".htm"}, strings.ToLower(ext))
}

// pageKey returns the key of a page from its path in the folder.
func pageKey(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = resource.Slug(parts[i])
	}
	return strings.Join(parts, ".")
}

// titleFromName turns a file name into a title.
func titleFromName(stem string) string {
	words := strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) }), " ")
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// resolveFileLinks resolves links in page files to the files of other pages.
func (rs *resolver) resolveFileLinks() {
	pages := map[string][]*resource.Object{} // by file
	for _, it := range rs.all.kept() {
		at := ""
		if it.page != nil {
			at = it.page.place.File
		} else if v, ok := it.object.Value("file"); ok && v.File != nil {
			at = v.File.Path
		}
		if at != "" && it.kind.WebPath != "" {
			pages[at] = append(pages[at], it.object)
		}
	}
	var images []string
	first := 0
	for i, it := range rs.all.kept() {
		if v, ok := it.object.Value("file"); ok && v.File != nil && strings.ContainsAny(v.Text, "(]=") {
			shown := rs.resolveTargets(i, v, pages)
			if len(images) == 0 {
				first = i
			}
			images = append(images, shown...)
		}
	}
	slices.Sort(images)
	images = slices.Compact(images)
	rs.warnLinks(first, "no-image-files", "pages cannot show these image files, and show nothing in their place: ", images,
		"link to an image on the web instead")
}

// warnLinks warns of link targets in a page file.
func (rs *resolver) warnLinks(i int, code, what string, targets []string, hint string) {
	const shown = 3
	if len(targets) > 0 {
		v, _ := rs.all.items[i].object.Value("file")
		rs.all.warn(i, v.Position, "."+v.Field.Name, problem{code, what + diag.First(targets, shown), hint})
	}
}

// resolveTargets resolves the relative links of a text. It warns of links that will not work on the service, and returns the images.
func (rs *resolver) resolveTargets(i int, v *resource.Value, pages map[string][]*resource.Object) (images []string) {
	o := rs.all.items[i].object
	var dead []string
	markup.Relink(v.HTML(), "", func(target string) string {
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") || v.Targets[target] != "" {
			return target
		}
		at := filepath.Join(filepath.Dir(v.File.Path), filepath.FromSlash(u.Path))
		for _, file := range []string{at, filepath.Join(at, "index.md"), filepath.Join(at, "README.md"), at + ".md"} {
			of := pages[file]
			if k := slices.IndexFunc(of, func(other *resource.Object) bool { return other.Parent == o.Parent }); k >= 0 {
				of = of[k : k+1]
			}
			if len(of) != 1 {
				continue
			}
			if v.Targets == nil {
				v.Targets = map[string]string{}
			}
			v.Targets[target] = string(of[0].Address)
			return target
		}
		if media, _ := resource.MediaType(u.Path); strings.HasPrefix(media, "image/") {
			images = append(images, filepath.ToSlash(at))
		} else if !slices.Contains(dead, target) {
			dead = append(dead, target)
		}
		return target
	})
	rs.warnLinks(i, "dead-link", "the page links to files that are not pages: ", dead,
		"on the service these links would lead nowhere: write the whole address")
	return images
}

var (
	frontMatter = regexp.MustCompile(`\A---[ \t]*\n((?s:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\n|\z)`)
	matterKey   = regexp.MustCompile(`(?m)^[{"']?[\pL_][^:\n]*:(?:\s|\z)`)
	heading     = regexp.MustCompile(`\A\s*# +([^\n]*?)(?: +#+)?[ \t]*(\n\s*|\z)`)
)

// readFrontMatter returns the title in the front matter of a Markdown file, and the offset at which the text begins. Front matter is a
// mapping between two rules, or nothing between them. Anything else between two rules is text, except an invalid mapping, which is a
// mistake.
func readFrontMatter(text string) (title *node, from int, bad *diag.Diagnostic) {
	at := frontMatter.FindStringSubmatchIndex(text)
	if at == nil {
		return nil, 0, nil
	}
	between := text[:at[3]] // includes the first rule, so that line numbers stay the same
	var roots []*node
	err := yamltext.Documents(strings.NewReader(between), func(root *node) { roots = append(roots, root) })
	switch {
	case err != nil && matterKey.MatchString(between):
		d := syntaxError("", err, between)
		d.Summary, d.Position.Line = strings.Replace(d.Summary, "the file", "the front matter", 1), max(d.Position.Line, 1)
		d.Hint = strings.TrimPrefix(d.Hint+"; if it is not front matter, begin the file with an empty line", "; ")
		return nil, 0, &d
	case strings.TrimSpace(text[at[2]:at[3]]) == "":
		return nil, at[1], nil
	case err != nil || len(roots) != 1 || roots[0].Kind != mappingNode:
		return nil, 0, nil
	}
	wrong := func(n *node, what problem) {
		bad = &diag.Diagnostic{Code: what.code, Position: diag.Position{Line: n.Line, Column: n.Column}, Summary: what.summary, Hint: what.hint}
	}
	given := map[string]bool{}
	for key, value := range yamltext.Pairs(roots[0].Content) {
		switch said := resolved(value); {
		case given[key.Value]:
			wrong(key, problem{"duplicate-key", "the front matter gives " + quote(key.Value) + " twice", "remove one of them"})
		case key.Value != "title" || isNull(said):
		case said.Kind != scalarNode || strings.Contains(strings.TrimSpace(said.Value), "\n"):
			wrong(value, problem{"wrong-type", "the title in the front matter must be one line of text", "write title: A title"})
		case strings.TrimSpace(said.Value) != "":
			title = value
		}
		given[key.Value] = true
	}
	return title, at[1], bad
}

// Titled returns the title that a page file contains, and the offset at which the text after it begins. In Markdown, the title is in the
// front matter, or is the first heading. bad is a mistake in the front matter, with its line.
func Titled(text string, isHTML bool) (title string, from int, bad *diag.Diagnostic) {
	if isHTML {
		return "", 0, nil
	}
	said, from, bad := readFrontMatter(text)
	if said != nil {
		return strings.TrimSpace(resolved(said).Value), from, bad
	}
	if m := heading.FindStringSubmatchIndex(text[from:]); m != nil {
		return strings.TrimSpace(markup.Text(markup.HTML(text[from+m[2] : from+m[3]]))), from + m[1], bad
	}
	return "", from, bad
}

// Retitled returns head, the beginning of a file up to its text, with another title.
func Retitled(head, title string) string {
	said, from, _ := readFrontMatter(head)
	if said != nil {
		edited, _ := yamltext.Apply([]byte(head), []yamltext.Edit{{Line: said.Line, Column: said.Column, Value: title}})
		return string(edited)
	}
	return head[:from] + "# " + markup.Escape(title) + "\n\n"
}
