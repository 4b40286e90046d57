package convert

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// attachedName is the file name of the list of all attachments. People and programs fetch the files by it.
const attachedName = "attachments.tsv"

// attached finds the local files of attachments, and collects the rows of their list.
type attached struct {
	folder string         // folder of the manifests; the files lie in it or below it
	root   *os.Root       // the open folder; nil = it does not exist yet
	named  map[string]int // number of attachments of the export by name
	rows   [][]string
}

// upload is a file that is uploaded: its name, and the target of links to it.
type upload struct{ name, link string }

// States of an attachment that is uploaded, and of one without a local file. Each other state is the reason why a file is not uploaded.
const (
	uploaded = "upload"
	missing  = "missing"
)

// open opens the folder of the files, if it exists, and counts the attachments by name.
func (a *attached) open(found *collection, kept []*Issue) error {
	a.named = map[string]int{}
	for _, i := range slices.AppendSeq(slices.Clone(kept), maps.Values(found.issues)) {
		for _, one := range i.Attachments {
			a.named[one.Name]++
		}
	}
	root, err := os.OpenRoot(a.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	a.root = root
	return err
}

func (a *attached) close() {
	if a.root != nil {
		_ = a.root.Close() // it was only read
	}
}

// list returns the list of all attachments as tab-separated text, or nil if there are none.
func (a *attached) list() []byte {
	if len(a.rows) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("item\tname\tsize\tsource address\tlocal file\tstate\n")
	cell := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, row := range a.rows {
		for n := range row {
			if row[n] = cell.Replace(row[n]); strings.ContainsAny(row[n][:min(len(row[n]), 1)], "=+-@") { // a spreadsheet would take it for a formula
				row[n] = "'" + row[n]
			}
		}
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	return []byte(b.String())
}

// attachments returns the files of an issue that are uploaded, and the attachments that its item links to instead.
func (c *composer) attachments(at place) (files []any, others []Attachment) {
	i := at.issue
	c.uploads = map[string]upload{}
	if c.mapping.Attachments.Skip {
		if n := len(i.Attachments); n > 0 {
			c.report.leftOut["attachments"] += n
		}
		return nil, nil
	}
	keys, had, equal := attachmentKeys(i.Attachments), map[string]bool{}, map[string]int{}
	for n, a := range i.Attachments {
		a.URL = c.absolute(a.URL)
		equal[a.Name]++
		file, state := c.attached.find(c.mapping.Attachments, i, a, equal[a.Name])
		switch state {
		case uploaded:
			name := a.Name
			if folded := strings.ToLower(name); had[folded] { // the files of an item are told apart by their names
				ext := path.Ext(name)
				name = diag.Truncate(strings.TrimSuffix(name, ext), 100) + " (" + keys[n] + ")" + ext
			} else {
				had[folded] = true
			}
			files = append(files, manifest.Map{{Key: "key", Value: keys[n]}, {Key: "file", Value: file}, {Key: "name", Value: name}})
			c.report.Carried.Attachments++
			for _, known := range []string{a.Name, a.URL} {
				if _, had := c.uploads[known]; known != "" && !had {
					c.uploads[known] = upload{name: a.Name, link: at.reference("attachment", keys[n])}
				}
			}
		case missing:
			c.report.lose("attachments", i, 1)
			others = append(others, a)
		default:
			c.report.lose("attachments-refused", i, 1)
			others = append(others, a)
		}
		size := ""
		if a.Size > 0 {
			size = strconv.FormatInt(a.Size, 10)
		}
		c.attached.rows = append(c.attached.rows, []string{shown(i.name()), a.Name, size, a.URL, file, state})
	}
	return files, others
}

// absolute adds the tracker's site to an address that is a path.
func (c *composer) absolute(address string) string {
	site, err := url.Parse(c.mapping.Source.Site)
	if err != nil || site.Host == "" || !strings.HasPrefix(address, "/") {
		return address
	}
	if path := strings.TrimSuffix(site.Path, "/"); !strings.HasPrefix(address, path+"/") {
		address = path + address
	}
	return site.Scheme + "://" + site.Host + address
}

// attachmentKeys returns the keys of an issue's attachments. The key of an attachment without an ID is its name and ordinal.
func attachmentKeys(list []Attachment) []string {
	return ordinalKeys(list, func(a Attachment) (id, otherwise string) {
		return a.ID, cmp.Or(beginningOf(resource.Slug(a.Name), 60), "file")
	})
}

// ordinalKeys returns a key for each element of a list: its ID, or if it has none, its other name with an ordinal.
func ordinalKeys[T any](list []T, of func(T) (id, otherwise string)) []string {
	keys, taken := make([]string, len(list)), map[string]int{}
	for n, one := range list {
		id, key := of(one)
		if id != "" {
			key = itemKey(id)
		}
		if taken[key]++; id == "" || taken[key] > 1 {
			key += "-" + strconv.Itoa(taken[key])
		}
		keys[n] = key
	}
	return keys
}

// find returns the path of an attachment's file, or the path where the file is expected, and the state of the attachment. It is the nth
// attachment of the issue with its name.
func (a *attached) find(m mapping.Attachments, i *Issue, one Attachment, nth int) (file, state string) {
	field, _ := resource.MustLookup("attachment").Field("name")
	switch _, accepted := resource.MediaType(one.Name); {
	case !filepath.IsLocal(one.Name), one.Name == ".", strings.ContainsAny(one.Name, field.Forbidden),
		manifest.CheckText(field, one.Name) != "", utf8.RuneCountInString(one.Name) > field.MaxLength:
		return "", "name-refused" // it may lead out of the folder
	case !accepted:
		return "", "type-refused"
	case one.Size > resource.MaxUpload:
		return "", "too-large"
	}
	names := []string{itemKey(i.Key) + "/" + one.Name}
	if one.ID != "" {
		names = []string{itemKey(one.ID) + "-" + one.Name, names[0]}
	} else if nth > 1 {
		names[0] = itemKey(i.Key) + "/" + strconv.Itoa(nth) + "-" + one.Name
	}
	if a.named[one.Name] == 1 { // else it may be the file of another attachment
		names = append(names, one.Name)
	}
	for _, name := range names {
		file := path.Join(m.Folder, name)
		if state := a.look(file, one.Size); state != missing {
			return file, state
		}
	}
	return path.Join(m.Folder, names[0]), missing
}

// look returns the state of a file in the folder: uploaded, or the reason why the file is not uploaded.
func (a *attached) look(file string, size int64) string {
	if a.root == nil {
		return missing
	}
	file = filepath.FromSlash(file)
	info, err := a.root.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil, !info.Mode().IsRegular(): // such as a link out of the folder, or a device without an end
		return "unreadable"
	case info.Size() == 0:
		return "empty"
	case info.Size() > resource.MaxUpload:
		return "too-large"
	}
	f, err := a.root.Open(file)
	if err != nil {
		return "unreadable"
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return "unreadable"
	case isPage(head[:n]): // to log in, probably
		return "web-page"
	case size > 0 && info.Size() != size:
		return "size-differs"
	}
	return uploaded
}
