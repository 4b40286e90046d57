package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// loadedState is the state on disk, with the journal replayed.
type loadedState struct {
	store
	info    fs.FileInfo // nil = there is no state file
	journal bool        // a journal with a first line exists
	read    string      // ID of that journal
}

// load reads state and journal. It reads the journal first: if a run saves between the two reads, the state
// already contains the journal and names it.
func load(p paths, opts Options) (*loadedState, error) {
	journalText, _, err := readLimited(p.journal)
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("the journal %s cannot be read: %w", p.journal, cause(err)),
			"restore it or make it readable: it records all requests that were sent")
	}
	j, err := parseJournal(p.journal, journalText)
	if err != nil {
		return nil, err
	}
	text, info, err := readLimited(p.state)
	if err != nil {
		return nil, readError(p.state, err)
	}
	c := &content{identity: identity{BaseURL: opts.BaseURL, Workspace: opts.Workspace}, records: planner.Prior{}}
	if info != nil {
		if c, err = decode(p.state, text); err != nil {
			return nil, err
		}
		if err := c.checkOrigin(p.state, opts); err != nil {
			return nil, err
		}
		c.BaseURL = opts.BaseURL // in its normal form
	}
	f := &loadedState{store: newStore(*c), info: info, journal: j != nil}
	if j == nil {
		return f, nil
	}
	f.read = j.header.ID
	return f, f.replay(p, j, opts)
}

func (ld *loadedState) snapshot(path string) *Snapshot {
	return &Snapshot{Path: path, Exists: ld.info != nil || ld.journal, Lineage: ld.Lineage, Serial: ld.Serial, store: ld.store}
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLarge   = errors.New("it has more than 128 MiB, too much for a state")
)

// maxSize is the size limit of a state in bytes, enough for several hundred thousand objects.
const maxSize = 128 << 20

// readLimited reads a regular file. It returns nil info if there is no such file.
func readLimited(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNotRegular // opening a pipe would block
	case info.Size() > maxSize:
		err = errTooLarge
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path) //nolint:gosec // the path is the user's choice
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = errTooLarge
	}
	return text, info, err
}

// checkOrigin returns an error if the file at path belongs to another server or workspace.
func (id identity) checkOrigin(path string, opts Options) error {
	const advice = "name the right state file with --state, or the server and workspace that it is for"
	const moved = "; if the server has moved, planform state migrate OLD NEW takes its state along"
	recorded, err := normalURL(id.BaseURL)
	if err != nil {
		recorded = id.BaseURL
	}
	if recorded != opts.BaseURL && "https"+strings.TrimPrefix(recorded, "http") != opts.BaseURL && !opts.AnyServer {
		return &MismatchError{Path: path, Owner: "the server", Have: recorded, Want: opts.BaseURL, Advice: advice + moved}
	}
	if id.Workspace != opts.Workspace {
		return &MismatchError{Path: path, Owner: "the workspace", Have: id.Workspace, Want: opts.Workspace, Advice: advice}
	}
	return nil
}

// replay applies a journal, unless the state already contains it.
func (ld *loadedState) replay(p paths, j *journal, opts Options) error {
	if err := j.header.checkOrigin(p.journal, opts); err != nil {
		return err
	}
	if ld.info == nil && j.header.Serial == 0 {
		ld.Lineage = j.header.Lineage // the run died before it saved a state for the first time
	}
	const advice = "put back the state file that the journal was written beside (perhaps " // the name of the backup follows
	if ld.Lineage != j.header.Lineage {
		return &MismatchError{
			Path: p.journal, Owner: "the state of lineage", Have: j.header.Lineage, Want: ld.Lineage,
			Advice: advice + p.backup + "), or look on the service for the objects that the journal names and move it away",
		}
	}
	if ld.Journal == j.header.ID {
		return nil
	}
	if ld.Serial != j.header.Serial {
		return &MismatchError{
			Path: p.journal, Owner: "the state of serial", Have: strconv.FormatUint(j.header.Serial, 10), Want: strconv.FormatUint(ld.Serial, 10),
			Advice: advice + p.backup + "), or look on the service for the objects that the journal names and move it away",
		}
	}
	for _, l := range j.lines {
		ld.apply(l)
	}
	if ld.changed() {
		ld.Journal = j.header.ID
	}
	return nil
}
