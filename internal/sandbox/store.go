package sandbox

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// BusyError says that another process has the sandbox's database open.
type BusyError struct{ Path string }

func (be *BusyError) Error() string { return "another planform is using the sandbox " + be.Path }

// Hint returns the next step.
func (be *BusyError) Hint() string {
	return "if it is planform sandbox, talk to that: export the PLANE_BASE_URL that it printed, and leave out --sandbox; otherwise wait " +
		"for it to end"
}

// lockWait is the time that Open waits for another process that holds the file.
const lockWait = 2 * time.Second

// store is the embedded database. For each kind it has a bucket of rows and a bucket from ID to key. A key is the row's scope and a
// rising number, so that a list is one range in order of creation. Two more buckets hold the indexes and the counters.
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
		// Not forcing pages to the disk makes a write a hundred times faster. Writes of a killed process survive in the kernel's
		// memory; only a loss of power may lose the latest writes.
		NoSync:         true,
		NoFreelistSync: true,
		FreelistType:   bolt.FreelistMapType,
		// Only growing the file still waits for the disk; most sandboxes never outgrow this size.
		InitialMmapSize: 8 << 20,
	})
	if err != nil {
		_ = s.removeTemp() // the returned error matters more
		if errors.Is(err, berrors.ErrTimeout) {
			return nil, &BusyError{Path: path}
		}
		if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrVersionMismatch) || errors.Is(err, berrors.ErrChecksum) {
			err = errors.New("it is not the data of a sandbox; delete it, or name another file")
		}
		return nil, fmt.Errorf("open the sandbox %s: %w", path, err)
	}
	s.db = db
	return s, nil
}

// openWhole opens a database whose file is complete. Reading beyond the end of a cut file would kill the process.
func openWhole(path string, opts *bolt.Options) (*bolt.DB, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: opts.Timeout, ReadOnly: true})
		if err != nil {
			return nil, err
		}
		err = db.View(func(t *bolt.Tx) error {
			info, err := os.Stat(path) // another process may have written while this one waited
			if err == nil && t.Size() > info.Size() {
				return fmt.Errorf("the file has %d bytes of %d; delete it, and the state that goes with it", info.Size(), t.Size())
			}
			return err
		})
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}
	return bolt.Open(path, 0o600, opts)
}

// close closes the database, and cuts off the unused end of its file.
func (st *store) close() error {
	path, used := st.db.Path(), int64(0)
	err := st.view(func(t *tx) error {
		used = t.btx.Size()
		return nil
	})
	if err = errors.Join(err, st.db.Close()); err == nil {
		err = os.Truncate(path, used)
	}
	st.rows.clear()
	if rerr := st.removeTemp(); err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

func (st *store) removeTemp() error {
	if st.temp == "" {
		return nil
	}
	return os.RemoveAll(st.temp)
}

// view runs do in a read transaction.
func (st *store) view(do func(*tx) error) error {
	return st.db.View(func(btx *bolt.Tx) error { return do(&tx{btx, &st.rows}) })
}

// update runs do in a write transaction and returns when it is committed. It does not use [bolt.DB.Batch], which would
// make a lone writer wait for others.
func (st *store) update(do func(*tx) error) error {
	return st.db.Update(func(btx *bolt.Tx) error { return do(&tx{btx, &st.rows}) })
}

// tx is a transaction in terms of rows. Its methods panic on an error of the database. Inside an open transaction that means a broken
// file, about which a handler can do nothing: the request is answered 500 and the transaction is rolled back.
type tx struct {
	btx  *bolt.Tx
	rows *rowCache
}

const (
	indexBucket = "index"
	countBucket = "count"
)

// stored is a row with its key.
type stored struct {
	key []byte
	row row
}

// number returns the number of a row among all rows of its kind, in order of insertion.
func (sd stored) number() uint64 { return binary.BigEndian.Uint64(sd.key[len(sd.key)-8:]) }

// byNumber compares rows by their insertion.
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

// scope returns the key prefix of a list, made of IDs.
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

// insert adds a row to the end of a list. The row must have an ID.
func (t *tx) insert(k *kind, in []byte, r row) {
	rows := t.btx.Bucket(k.rows)
	n, err := rows.NextSequence()
	must(err)
	key := binary.BigEndian.AppendUint64(append(make([]byte, 0, len(in)+8), in...), n)
	must(rows.Put(key, encode(selectFields(r, k.stored))))
	must(t.btx.Bucket(k.ids).Put(scope(text(r, "id")), key))
	t.updateIndexes(k, nil, r)
	t.add("n:"+k.name+":"+string(in), 1)
}

// save replaces a row.
func (t *tx) save(k *kind, s stored) {
	t.updateIndexes(k, t.read(k, s.key), s.row)
	must(t.btx.Bucket(k.rows).Put(s.key, encode(selectFields(s.row, k.stored))))
}

// remove deletes a row. It does nothing if the row was deleted with another one.
func (t *tx) remove(k *kind, s stored) {
	if t.btx.Bucket(k.rows).Get(s.key) == nil {
		return
	}
	t.updateIndexes(k, t.read(k, s.key), nil)
	must(t.btx.Bucket(k.rows).Delete(s.key))
	must(t.btx.Bucket(k.ids).Delete(scope(text(s.row, "id"))))
	t.add("n:"+k.name+":"+string(s.key[:len(s.key)-8]), -1)
}

// get returns a row by ID. A text that is no ID finds nothing.
func (t *tx) get(k *kind, id string) (stored, bool) {
	key := t.find(k, id)
	if key == nil {
		return stored{}, false
	}
	return stored{append([]byte(nil), key...), t.read(k, key)}, true
}

func (t *tx) read(k *kind, key []byte) row { return t.decode(t.btx.Bucket(k.rows).Get(key)) }

func (t *tx) decode(value []byte) row {
	r, err := t.rows.decode(value)
	must(err)
	return r
}

// find returns the key of a row, valid within the transaction, or nil if there is no such row.
func (t *tx) find(k *kind, id string) []byte {
	u, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	return t.btx.Bucket(k.ids).Get(u[:])
}

// inserted returns the number of rows of a kind that were ever inserted.
func (t *tx) inserted(k *kind) uint64 { return t.btx.Bucket(k.rows).Sequence() }

// number returns the number of a row among all rows of its kind that were ever inserted, or 0 if it does not exist.
func (t *tx) number(k *kind, id string) uint64 {
	key := t.find(k, id)
	if key == nil {
		return 0
	}
	return stored{key: key}.number()
}

// getWithin returns a row by ID within a scope.
func (t *tx) getWithin(k *kind, within []byte, id string) (stored, bool) {
	s, ok := t.get(k, id)
	if !ok || !bytes.HasPrefix(s.key, within) {
		return stored{}, false
	}
	return s, true
}

// has reports whether a scope has a row.
func (t *tx) has(k *kind, within []byte, id string) bool {
	key := t.find(k, id)
	return key != nil && bytes.HasPrefix(key, within)
}

// count returns the length of a list.
func (t *tx) count(k *kind, in []byte) int { return t.counter("n:" + k.name + ":" + string(in)) }

// all returns a list in order of creation; an empty scope means every row.
func (t *tx) all(k *kind, in []byte) []stored {
	var out []stored
	c := t.btx.Bucket(k.rows).Cursor()
	for key, value := c.Seek(in); key != nil && bytes.HasPrefix(key, in); key, value = c.Next() {
		out = append(out, stored{append([]byte(nil), key...), t.decode(value)})
	}
	return out
}

// indexKey joins parts with NUL, which no indexed value contains.
func indexKey(parts ...string) []byte { return []byte(strings.Join(parts, "\x00")) }

// setIndex sets the value of a key of the index.
func (t *tx) setIndex(value string, parts ...string) {
	must(t.btx.Bucket([]byte(indexBucket)).Put(indexKey(parts...), []byte(value)))
}

// index returns the value of a key of the index, or "".
func (t *tx) index(parts ...string) string {
	return string(t.btx.Bucket([]byte(indexBucket)).Get(indexKey(parts...)))
}

// dropIndex removes a key of the index.
func (t *tx) dropIndex(parts ...string) {
	must(t.btx.Bucket([]byte(indexBucket)).Delete(indexKey(parts...)))
}

// indexValues returns the values of the first keys that begin with the parts, up to limit.
func (t *tx) indexValues(limit int, parts ...string) []string {
	prefix := append(indexKey(parts...), 0)
	var out []string
	c := t.btx.Bucket([]byte(indexBucket)).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(out) < limit; k, v = c.Next() {
		out = append(out, string(v))
	}
	return out
}

// first returns the value of the first key that begins with the parts, or "".
func (t *tx) first(parts ...string) string {
	for _, value := range t.indexValues(1, parts...) {
		return value
	}
	return ""
}

// last returns the value of the last key that begins with the parts, or "".
func (t *tx) last(parts ...string) string {
	prefix := append(indexKey(parts...), 0)
	c := t.btx.Bucket([]byte(indexBucket)).Cursor()
	back := c.Prev
	if behind, _ := c.Seek(append(slices.Clone(prefix), 0xff)); behind == nil {
		back = c.Last
	}
	if k, v := back(); bytes.HasPrefix(k, prefix) {
		return string(v)
	}
	return ""
}

// counter returns the value of a counter.
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
	must(t.btx.Bucket([]byte(countBucket)).Put([]byte(name), binary.BigEndian.AppendUint64(nil, uint64(n)))) //nolint:gosec // read back by counter
	return n
}
