package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
)

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// source is a manifest file.
type source struct {
	name string // as the user named it, or a path inside the folder that the user named
	dir  string // the folder that file names in the manifest are relative to
	open func() (io.ReadCloser, error)
	info fs.FileInfo // nil = standard input

	listed bool // found in a folder, which may contain YAML files of other programs

	edited map[string][]byte // see [Options] Edited

	passed   map[string]fileNode // variables of the document that includes the file; nil = not included
	declared map[string]fileNode // the file's own variables, after it was read

	root *os.Root // the open folder; nil = not open
}

// sources returns the files that the user named, in the given order and without duplicates.
func sources(names []string, stdin io.Reader, dir string, found *findings) []*source {
	var list []*source
	add := func(name string, info fs.FileInfo, listed bool, open func() (io.ReadCloser, error)) {
		if i := slices.IndexFunc(list, func(other *source) bool { return other.info != nil && os.SameFile(info, other.info) }); i >= 0 {
			list[i].listed = list[i].listed && listed
			return // named twice, or also found in a folder
		}
		list = append(list, &source{name: name, dir: filepath.Dir(name), open: open, info: info, listed: listed})
	}
	for _, name := range names {
		if name == standardInput {
			if slices.ContainsFunc(list, func(s *source) bool { return s.name == standardInput }) {
				continue
			}
			list = append(list, &source{name: name, dir: dir, open: func() (io.ReadCloser, error) {
				if stdin == nil {
					return nil, errors.New("there is no standard input")
				}
				return io.NopCloser(stdin), nil
			}})
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			found.add(unreadable(name, err))
			continue
		}
		if !info.IsDir() {
			add(name, info, false, func() (io.ReadCloser, error) { return os.Open(name) }) //nolint:gosec // the user named it
			continue
		}
		inside, err := manifestsIn(name)
		if err != nil {
			found.add(unreadable(name, err))
			continue
		}
		if len(inside) == 0 {
			found.report(diag.Position{File: name}, "",
				problem{"no-manifest", "the folder has no *.yaml or *.yml files", "subfolders are not read"})
		}
		for _, file := range inside {
			info, err := inFolder(name, filepath.Base(file), (*os.Root).Stat)
			if err == nil && !info.Mode().IsRegular() {
				err = errors.New("it is not a regular file") // opening a pipe would block
			}
			if err != nil {
				found.add(unreadable(file, err))
				continue
			}
			add(file, info, true, func() (io.ReadCloser, error) { return inFolder(name, filepath.Base(file), (*os.Root).Open) })
		}
	}
	return list
}

// inFolder calls do for a file of a folder, and fails if the file leads out of the folder: the user trusts that folder only, and messages
// quote broken manifests.
func inFolder[T any](folder, file string, do func(root *os.Root, name string) (T, error)) (T, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		var none T
		return none, err
	}
	defer root.Close() //nolint:errcheck // nothing was written, and what was opened stays open
	return do(root, file)
}

// manifestsIn returns the sorted names of the *.yaml and *.yml files of a folder. Hidden files and subfolders are left out.
func manifestsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		name := filepath.Join(dir, e.Name())
		if e.IsDir() || ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.Type().IsRegular() {
			f, err := inFolder(dir, e.Name(), (*os.Root).Open)
			if err == nil && isMapping(f) {
				continue
			}
		}
		names = append(names, name)
	}
	return names, nil
}

// isMapping reports whether a file is a mapping of planform convert, which is stored beside the manifests. It closes the file.
func isMapping(f *os.File) bool {
	const marker = "# planform mapping"
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, len(marker))
	n, _ := io.ReadFull(f, head)
	return string(head[:n]) == marker
}

func unreadable(name string, err error) diag.Diagnostic {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	hint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no such file") // the same words on every system
		hint = "check the spelling; - stands for standard input"
		if strings.Contains(name, "://") {
			hint = "a manifest is a file: curl -s URL | planform validate -f -"
		} else if strings.ContainsAny(name, "*?") {
			hint = "no file matches the pattern; -f DIR reads the *.yaml and *.yml files of a folder"
		}
	case escapes(err):
		err = errors.New("it leads outside the folder")
		hint = "name the file itself with -f, if it is a manifest"
	}
	return diag.Diagnostic{
		Code: "unreadable", Position: diag.Position{File: name}, Summary: "cannot read the manifest: " + diag.PlainText(err), Hint: hint,
	}
}

// read calls each with every document of the source. anchors reports whether the text may contain anchors, complete whether it was read to
// the end.
func (s *source) read(
	ctx context.Context, limits Limits, spent *spending, found *findings, each func(root *node),
) (anchors, complete bool) {
	in, err := s.open()
	if err != nil {
		found.add(unreadable(s.name, err))
		return true, false
	}
	defer in.Close() //nolint:errcheck // it was only read
	scan := &scanner{ctx: ctx, in: bufio.NewReader(in), file: s.name, limits: limits, spent: spent}
	err = yamltext.Documents(scan, each)
	switch {
	case scan.finding != nil:
		found.add(*scan.finding)
		return scan.anchors, false
	case err != nil:
		found.add(syntaxError(s.name, err, scan.kept.String()))
		return scan.anchors, false
	}
	return scan.anchors, true
}

// useEdits replaces the contents of the file, and of files that it names, by edited texts.
func (s *source) useEdits(edited map[string][]byte) {
	s.edited = edited
	if text, ok := edited[s.name]; ok {
		s.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	}
}

// openFolder returns the manifest's folder, and opens it at the first call.
func (s *source) openFolder() (*os.Root, *problem) {
	if s.root == nil {
		root, err := os.OpenRoot(s.dir)
		if err != nil {
			return nil, readProblem(err)
		}
		s.root = root
	}
	return s.root, nil
}

// openFile opens a file that the manifest names. It must be a regular file inside the manifest's folder.
func (s *source) openFile(local string) (*os.File, *problem) {
	root, bad := s.openFolder()
	if bad != nil {
		return nil, bad
	}
	info, err := root.Stat(local)
	if err != nil {
		return nil, readProblem(err)
	}
	if !info.Mode().IsRegular() {
		return nil, &problem{"file-unreadable", "it is not a regular file", ""}
	}
	f, err := root.Open(local)
	if err != nil {
		return nil, readProblem(err)
	}
	return f, nil
}

// localName returns a file name of a manifest in the form of the operating system.
func localName(name string) (string, *problem) {
	local := filepath.FromSlash(name)
	if filepath.Separator == '/' && strings.Contains(name, `\`) {
		return "", &problem{"file-missing", "there is no such file", "write " + strings.ReplaceAll(name, `\`, "/")}
	}
	if !filepath.IsLocal(local) {
		return "", &problem{"file-outside", "the file is outside the manifest's folder", "keep it below that folder"}
	}
	return local, nil
}

// readUpload checks a file that will be uploaded, and returns its size and digest. The file is opened again for the upload.
func (s *source) readUpload(name string) (*resource.Content, *problem) {
	local, bad := localName(name)
	if bad != nil {
		return nil, bad
	}
	media, accepted := resource.MediaType(name)
	if !accepted {
		return nil, &problem{"file-type", "the service takes no such files", "put it into an archive, such as a .zip"}
	}
	f, bad := s.openFile(local)
	if bad != nil {
		return nil, bad
	}
	defer f.Close() //nolint:errcheck // it was only read
	digest := sha256.New()
	size, err := io.Copy(digest, io.LimitReader(f, resource.MaxUpload+1))
	switch {
	case err != nil:
		return nil, readProblem(err)
	case size > resource.MaxUpload:
		return nil, &problem{
			"file-too-large", "the file is larger than " + bytesText(resource.MaxUpload),
			"that is the service's default limit: attach a smaller file, or give its address in links",
		}
	case size == 0:
		return nil, &problem{"file-empty", "the file is empty", "the service takes no empty files"}
	}
	dir := s.dir
	return &resource.Content{
		Size: size, SHA256: hex.EncodeToString(digest.Sum(nil)), Media: media,
		Open: func() (io.ReadCloser, error) { return inFolder(dir, local, (*os.Root).Open) },
	}, nil
}

// checkSecretFile checks a file that will store a secret. The file need not exist.
func (s *source) checkSecretFile(name string) (*resource.Secret, *problem) {
	local, bad := localName(name)
	if bad != nil {
		return nil, bad
	}
	dir := s.dir
	secret := &resource.Secret{Path: filepath.Join(dir, local), Kept: func() (bool, error) {
		info, err := inFolder(dir, local, (*os.Root).Stat)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case !info.Mode().IsRegular():
			return false, errors.New("it is not a regular file")
		}
		return info.Size() > 0, nil
	}}
	var err error
	if secret.Filled, err = secret.Kept(); err != nil {
		return nil, readProblem(err)
	}
	return secret, nil
}

// readPage reads the text of a page.
func (s *source) readPage(name string, limit int) (text string, isHTML bool, bad *problem) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown":
	case ".html", ".htm":
		isHTML = true
	default:
		bad = &problem{"file-type", "the file is neither Markdown nor HTML by its name", "name a file that ends in .md or .html"}
	}
	if text, bad = s.readText(name, limit, bad); bad != nil {
		return "", false, bad
	}
	text = normalizeLineEnds(text)
	if r, bad := controlCharacter(text); bad {
		return "", false, &problem{"file-not-text", "the file contains the control character " + runeName(r), "remove it"}
	}
	return text, isHTML, nil
}

// readText reads a text file that the manifest names. unusable is a problem that the file's name has already.
func (s *source) readText(name string, limit int, unusable *problem) (string, *problem) {
	local, bad := localName(name)
	if bad = cmp.Or(bad, unusable); bad != nil {
		return "", bad
	}
	f, bad := s.openFile(local)
	if bad != nil {
		return "", bad
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if text, ok := s.edited[filepath.Join(s.dir, local)]; ok {
		data = text
	}
	switch {
	case err != nil:
		return "", readProblem(err)
	case len(data) > limit:
		return "", &problem{
			"file-too-large", "the file is larger than " + bytesText(int64(limit)),
			"the service takes no more in one request",
		}
	case !utf8.Valid(data):
		return "", &problem{"file-not-text", "the file is not UTF-8", "save it as UTF-8"}
	}
	return strings.TrimPrefix(string(data), "\uFEFF"), nil
}

// escapes reports whether a root refused a path that leads out of it.
func escapes(err error) bool { return strings.Contains(err.Error(), "escapes") }

func readProblem(err error) *problem {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &problem{"file-missing", "there is no such file", "name it relative to the manifest's folder"}
	case escapes(err):
		return &problem{
			"file-outside", "the path leads out of the manifest's folder",
			"keep the file below that folder, without links that lead out of it",
		}
	}
	return &problem{"file-unreadable", "cannot read the file: " + diag.PlainText(err), ""}
}

// close closes the folder.
func (s *source) close() {
	if s.root != nil {
		s.root.Close() //nolint:errcheck,gosec // nothing was written
		s.root = nil
	}
}

// normalizeLineEnds replaces other line ends, which exports of trackers contain, by a line feed.
func normalizeLineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// controlCharacter returns the first character that the service accepts in no text.
func controlCharacter(text string) (rune, bool) {
	for i := range len(text) {
		if c := text[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7F {
			return rune(c), true
		}
	}
	return 0, false
}
