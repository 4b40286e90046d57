package state

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/text/diag"
)

// paths are the names of the files that belong to one state.
type paths struct {
	state, tmp, backup, journal, lock, holder string
}

// DefaultPath returns the default place of a workspace's state: .planform/<host>_<workspace>.state.json in
// dir, with a hyphen and the port after the host if there is one. A link that leads out of dir is an error,
// because the author of the link would choose which file is written.
func DefaultPath(dir, baseURL, workspace string) (string, error) {
	base, err := normalURL(baseURL)
	if err != nil {
		return "", err
	}
	if workspace == "" {
		return "", errors.New("the state file has no name without a workspace")
	}
	host, _, _ := strings.Cut(base, ":") // an embedded server has a scheme only
	if _, rest, ok := strings.Cut(base, "://"); ok {
		host, _, _ = strings.Cut(rest, "/")
	}
	name := fileSafe(host) + "_" + fileSafe(workspace)
	const longest = 200 // most file systems take 255 bytes, and suffixes follow
	if len(name) > longest {
		name = fmt.Sprintf("%s-%08x", strings.ToValidUTF8(name[:longest], ""), crc32.ChecksumIEEE([]byte(name)))
	}
	local := filepath.Join(".planform", name+".state.json")
	for _, name := range []string{local, local + ".history"} {
		if err := Inside(dir, name); err != nil {
			return "", diag.WithHint(err, "remove the link, or choose another place with --state")
		}
	}
	return filepath.Join(dir, local), nil
}

// Inside returns an error if a link on the way to a file leads out of the folder. The file need not exist.
func Inside(dir, name string) error {
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer root.Close() //nolint:errcheck // nothing was written
		if _, err = root.Stat(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if strings.Contains(err.Error(), "escapes") {
		return diag.WithHint(fmt.Errorf("%s leads out of its folder", filepath.Join(dir, name)), "remove the link")
	}
	return nil // opening the file reports the error
}

// WritableByOthers returns the folder of a state, and whether other users can change the files in it.
func WritableByOthers(path string) (dir string, yes bool) {
	dir = filepath.Dir(path)
	info, err := os.Stat(dir)
	return dir, err == nil && runtime.GOOS != "windows" && info.Mode()&0o022 != 0
}

// fileSafe replaces characters that are special to a file system, a shell or a terminal.
func fileSafe(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r == '[' || r == ']': // around an IPv6 address
			return -1
		default:
			return '-'
		}
	}, text)
}

// SameServer reports whether two base URLs refer to the same server.
func SameServer(a, b string) bool {
	first, err := normalURL(a)
	if err != nil {
		return false
	}
	second, err := normalURL(b)
	return err == nil && first == second
}

// ServerURL returns the stored form of a server's base URL without any part that could be a credential, or "" if raw is no base URL.
func ServerURL(raw string) string {
	normal, _ := normalURL(raw)
	return normal
}

// normalURL returns the form in which base URLs are stored and compared: the form of [baseurl.Normalize],
// or only the scheme for an embedded server. Errors do not repeat the text, which may hold a credential.
func normalURL(raw string) (string, error) {
	if meant := baseurl.WithScheme(raw); meant != "" {
		return "", fmt.Errorf("the base URL has no scheme: write %s", meant)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme == "" {
		return "", errors.New("the base URL is not a URL such as https://api.plane.so")
	}
	scheme := strings.ToLower(u.Scheme)
	if u.Host == "" {
		if scheme == "https" || scheme == "http" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" {
			return "", errors.New("the base URL has no host")
		}
		return scheme + ":", nil // an embedded server
	}
	u = baseurl.Normalize(u)
	return u.Scheme + "://" + u.Host + u.EscapedPath(), nil
}

// resolve follows symbolic links to the state file, which need not exist, and names the files beside it.
func resolve(path string) (paths, error) {
	if path == "" {
		return paths{}, errors.New("the state file has no name")
	}
	start := path
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return siblingPaths(path), nil
		}
		if err != nil {
			return paths{}, readError(start, err)
		}
		if info.IsDir() {
			return paths{}, diag.WithHint(fmt.Errorf("the state file %s is a folder", start), "name a file in it")
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return siblingPaths(path), nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return paths{}, readError(start, err)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return paths{}, fmt.Errorf("the state file %s is a symbolic link to a file that does not exist", start)
}

func siblingPaths(path string) paths {
	return paths{
		state: path, tmp: path + ".tmp", backup: path + ".backup", journal: path + ".journal",
		lock: path + ".lock", holder: path + ".lock.json",
	}
}

func readError(path string, err error) error {
	return diag.WithHint(fmt.Errorf("the state file %s cannot be read: %w", path, cause(err)),
		"restore it or make it readable, or name another file with --state")
}

// cause returns a file error without operation and path, for messages that name the file.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
