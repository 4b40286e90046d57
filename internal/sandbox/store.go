package sandbox

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// BusyError says that another process has the sandbox's database open.
type BusyError struct{ Path string }

func (b *BusyError) Error() string { return "another planform is using the sandbox " + b.Path }

// Hint is the next step.
func (b *BusyError) Hint() string {
	return "if it is planform sandbox, talk to that: export the PLANE_BASE_URL that it printed, and leave out --sandbox; otherwise wait " +
		"for it to end"
}

// lockWait is how long Open waits for another process that holds the file.
const lockWait = 2 * time.Second

// store is the embedded database. For each kind it has a bucket of rows, whose
// keys are the row's scope and a rising number, so that a list is one range in
// order of creation, and a bucket from id to that key. Two more buckets hold
// the indexes and the counters.
type store struct {
	db   *bolt.DB
	temp string // folder to remove on close, or ""
	rows rowCache
}

func openStore(path string) (*store, error) {
	s := &store{}
	if path == "" {
		dir, err := os.MkdirTemp("", "planform-sandbox-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for the sandbox: %w", err)
		}
		s.temp = dir
		path = filepath.Join(dir, "sandbox.db")
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	db, err := openWhole(path, &bolt.Options{
		Timeout: lockWait,
		// Not forcing pages to the disk makes a write a hundred times
		// faster. What a killed process has written is in the kernel's
		// hands and survives it; only a loss of power may lose the latest
		// writes, and for a sandbox that is a good trade.
		NoSync:         true,
		NoFreelistSync: true,
		FreelistType:   bolt.FreelistMapType,
		// Growing the file is the one thing that still waits for the
		// disk; most sandboxes never outgrow this.
		InitialMmapSize: 8 << 20,
	})
	if err != nil {
		_ = s.removeTemp() // the error that is returned matters more
		if errors.Is(err, berrors.ErrTimeout) {
			return nil, &BusyError{Path: path}
		}
		if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrVersionMismatch) || errors.Is(err, berrors.ErrChecksum) {
			err = errors.New("it holds no data of a sandbox; name another file, or one that is not there yet")
		}
		return nil, fmt.Errorf("open the sandbox %s: %w", path, err)
	}
	s.db = db
	return s, nil
}

// openWhole opens a database from which nothing was cut off: the process would be killed where it reads beyond the end.
func openWhole(path string, opts *bolt.Options) (*bolt.DB, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.Timeout, ReadOnly: true})
		if err != nil {
			return nil, err
		}
		err = db.View(func(t *bolt.Tx) error {
			if t.Size() > info.Size() {
				return fmt.Errorf("the file has %d bytes of %d; delete it, and the state that goes with it", info.Size(), t.Size())
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}
	return bolt.Open(path, 0o600, opts)
}

// close closes the database, and cuts off what its file has been grown by and nothing uses yet.
func (s *store) close() error {
	path, used := s.db.Path(), int64(0)
	err := s.view(func(t *tx) error {
		used = t.btx.Size()
		return nil
	})
	if err = errors.Join(err, s.db.Close()); err == nil {
		err = os.Truncate(path, used)
	}
	s.rows.clear()
	if rerr := s.removeTemp(); err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

func (s *store) removeTemp() error {
	if s.temp == "" {
		return nil
	}
	return os.RemoveAll(s.temp)
}

// view runs do in a read transaction.
func (s *store) view(do func(*tx) error) error {
	return s.db.View(func(btx *bolt.Tx) error { return do(&tx{btx, &s.rows}) })
}

// update runs do in a write transaction and returns when it is committed. It does without [bolt.DB.Batch]: a writer
// that is alone, as most are, would wait for others.
func (s *store) update(do func(*tx) error) error {
	return s.db.Update(func(btx *bolt.Tx) error { return do(&tx{btx, &s.rows}) })
}

// tx is a transaction in terms of rows. Its methods panic on an error of the
// database: inside an open transaction that means a broken file, about which a
// handler can do nothing; the request is answered 500 and the transaction is
// rolled back.
type tx struct {
	btx  *bolt.Tx
	rows *rowCache
}

const (
	indexBucket = "index"
	countBucket = "count"
)

// stored is a row with its place.
type stored struct {
	key []byte
	row row
}

// number is the place of a row among all of its kind.
func (s stored) number() uint64 { return binary.BigEndian.Uint64(s.key[len(s.key)-8:]) }

// byNumber orders rows as they were inserted.
func byNumber(a, b stored) int { return cmp.Compare(a.number(), b.number()) }

func must(err error) {
	if err != nil {
		panic(fmt.Errorf("sandbox store: %w", err))
	}
}

// prepare makes the buckets.
func (t *tx) prepare(kinds []*kind) {
	for _, k := range kinds {
		for _, name := range [][]byte{k.rows, k.ids} {
			_, err := t.btx.CreateBucketIfNotExists(name)
			must(err)
		}
	}
	for _, name := range []string{indexBucket, countBucket} {
		_, err := t.btx.CreateBucketIfNotExists([]byte(name))
		must(err)
	}
}

// scope joins ids to the prefix of a list.
func scope(ids ...string) []byte {
	b := make([]byte, 0, 16*len(ids))
	for _, id := range ids {
		u, err := uuid.Parse(id)
		if err != nil {
			panic(fmt.Errorf("sandbox store: scope: %w", err))
		}
		b = append(b, u[:]...)
	}
	return b
}

// insert adds a row to the end of a list. The row must have an id.
func (t *tx) insert(k *kind, in []byte, r row) {
	rows := t.btx.Bucket(k.rows)
	n, err := rows.NextSequence()
	must(err)
	key := binary.BigEndian.AppendUint64(append(make([]byte, 0, len(in)+8), in...), n)
	must(rows.Put(key, encode(selectFields(r, k.all))))
	must(t.btx.Bucket(k.ids).Put(scope(text(r, "id")), key))
	t.updateIndexes(k, nil, r)
	t.add("n:"+k.name+":"+string(in), 1)
}

// save replaces a row.
func (t *tx) save(k *kind, s stored) {
	t.updateIndexes(k, t.read(k, s.key), s.row)
	must(t.btx.Bucket(k.rows).Put(s.key, encode(selectFields(s.row, k.all))))
}

// remove deletes a row, if it is there: it may have gone with another.
func (t *tx) remove(k *kind, s stored) {
	if t.btx.Bucket(k.rows).Get(s.key) == nil {
		return
	}
	t.updateIndexes(k, t.read(k, s.key), nil)
	must(t.btx.Bucket(k.rows).Delete(s.key))
	must(t.btx.Bucket(k.ids).Delete(scope(text(s.row, "id"))))
	t.add("n:"+k.name+":"+string(s.key[:len(s.key)-8]), -1)
}

// get finds a row by id. An id that is none finds nothing.
func (t *tx) get(k *kind, id string) (stored, bool) {
	key := t.find(k, id)
	if key == nil {
		return stored{}, false
	}
	return stored{append([]byte(nil), key...), t.read(k, key)}, true
}

func (t *tx) read(k *kind, key []byte) row {
	return t.decode(t.btx.Bucket(k.rows).Get(key))
}

func (t *tx) decode(value []byte) row {
	r, err := t.rows.decode(value)
	must(err)
	return r
}

// find is the key of a row, valid within the transaction; nil if there is none.
func (t *tx) find(k *kind, id string) []byte {
	u, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	return t.btx.Bucket(k.ids).Get(u[:])
}

// inserted is how many rows of a kind were ever inserted.
func (t *tx) inserted(k *kind) uint64 { return t.btx.Bucket(k.rows).Sequence() }

// number is the place of a row among all of its kind that were ever inserted; 0 if there is none.
func (t *tx) number(k *kind, id string) uint64 {
	key := t.find(k, id)
	if key == nil {
		return 0
	}
	return stored{key: key}.number()
}

// in finds a row by id within a scope.
func (t *tx) in(k *kind, within []byte, id string) (stored, bool) {
	s, ok := t.get(k, id)
	if !ok || len(s.key) < len(within) || string(s.key[:len(within)]) != string(within) {
		return stored{}, false
	}
	return s, true
}

// has says whether a scope has a row.
func (t *tx) has(k *kind, within []byte, id string) bool { return hasPrefix(t.find(k, id), within) }

// count is the length of a list.
func (t *tx) count(k *kind, in []byte) int { return t.counter("n:" + k.name + ":" + string(in)) }

// all is a whole list in order of creation; an empty scope means every row.
func (t *tx) all(k *kind, in []byte) []stored {
	var out []stored
	c := t.btx.Bucket(k.rows).Cursor()
	for key, value := c.Seek(in); hasPrefix(key, in); key, value = c.Next() {
		out = append(out, stored{append([]byte(nil), key...), t.decode(value)})
	}
	return out
}

func hasPrefix(key, prefix []byte) bool {
	return key != nil && len(key) >= len(prefix) && string(key[:len(prefix)]) == string(prefix)
}

// index keys are parts joined by NUL, which no indexed value contains.
func indexKey(parts ...string) []byte {
	var b []byte
	for i, p := range parts {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, p...)
	}
	return b
}

// setIndex remembers value under the parts.
func (t *tx) setIndex(value string, parts ...string) {
	must(t.btx.Bucket([]byte(indexBucket)).Put(indexKey(parts...), []byte(value)))
}

// index is the value under the parts, or "".
func (t *tx) index(parts ...string) string {
	return string(t.btx.Bucket([]byte(indexBucket)).Get(indexKey(parts...)))
}

// dropIndex forgets.
func (t *tx) dropIndex(parts ...string) {
	must(t.btx.Bucket([]byte(indexBucket)).Delete(indexKey(parts...)))
}

// under is the values of all keys that begin with the parts, up to limit.
func (t *tx) under(limit int, parts ...string) []string {
	prefix := append(indexKey(parts...), 0)
	var out []string
	c := t.btx.Bucket([]byte(indexBucket)).Cursor()
	for k, v := c.Seek(prefix); hasPrefix(k, prefix) && len(out) < limit; k, v = c.Next() {
		out = append(out, string(v))
	}
	return out
}

// first is the value of the first key that begins with the parts, or "".
func (t *tx) first(parts ...string) string {
	for _, value := range t.under(1, parts...) {
		return value
	}
	return ""
}

// last is the value of the last key that begins with the parts, or "".
func (t *tx) last(parts ...string) string {
	prefix := append(indexKey(parts...), 0)
	c := t.btx.Bucket([]byte(indexBucket)).Cursor()
	back := c.Prev
	if behind, _ := c.Seek(append(slices.Clone(prefix), 0xff)); behind == nil {
		back = c.Last
	}
	if k, v := back(); hasPrefix(k, prefix) {
		return string(v)
	}
	return ""
}

// counter is a named number.
func (t *tx) counter(name string) int {
	v := t.btx.Bucket([]byte(countBucket)).Get([]byte(name))
	if len(v) != 8 {
		return 0
	}
	return int(int64(binary.BigEndian.Uint64(v))) //nolint:gosec // written by add
}

// add changes a counter and returns its new value.
func (t *tx) add(name string, by int) int {
	n := t.counter(name) + by
	t.setCounter(name, n)
	return n
}

func (t *tx) setCounter(name string, n int) {
	must(t.btx.Bucket([]byte(countBucket)).Put([]byte(name),
		binary.BigEndian.AppendUint64(nil, uint64(n)))) //nolint:gosec // read back by counter
}
