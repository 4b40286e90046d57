package bucket_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/bucket"
	"github.com/planform/planform/internal/state/bucket/buckettest"
)

func open(t *testing.T, s *buckettest.Server, address string, other ...string) *bucket.Place {
	t.Helper()
	env := s.Env()
	for i := 0; i < len(other); i += 2 {
		env[other[i]] = other[i+1]
	}
	p, err := bucket.Open(address, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestABucketHasConditionalWrites(t *testing.T) {
	t.Parallel()
	s := buckettest.Start(t)
	p, ctx := open(t, s, "s3://team/teams/web.json"), t.Context()
	if _, _, err := p.Get(ctx, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	first, err := p.Put(ctx, "", []byte("one"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Put(ctx, "", []byte("two"), ""); !errors.Is(err, state.ErrChanged) {
		t.Errorf("it is there already: %v", err)
	}
	text, version, err := p.Get(ctx, "")
	if string(text) != "one" || version != first || err != nil {
		t.Error(string(text), version, first, err)
	}
	second, err := p.Put(ctx, "", []byte("two"), first)
	if err != nil || second == first {
		t.Fatal(second, err)
	}
	if _, err := p.Put(ctx, "", []byte("three"), first); !errors.Is(err, state.ErrChanged) {
		t.Errorf("it is another one by now: %v", err)
	}
	if _, err := p.Put(ctx, ".gone", []byte("one"), first); err == nil {
		t.Error("there is nothing to replace")
	}
	for _, name := range []string{".journal/a/1", ".journal/a/2", ".lock"} {
		if _, err := p.Put(ctx, name, nil, ""); err != nil {
			t.Error(name, err)
		}
	}
	names, err := p.List(ctx, ".journal/")
	slices.Sort(names)
	if diff := cmp.Diff([]string{".journal/a/1", ".journal/a/2"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for range 2 {
		if err := p.Remove(ctx, ".journal/a/1"); err != nil {
			t.Error(err)
		}
	}
	if names, err := p.List(ctx, ".journal/"); len(names) != 1 || err != nil {
		t.Error(names, err)
	}
}

func TestAnErrorOfABucketIsExplained(t *testing.T) {
	t.Parallel()
	s := buckettest.Start(t)
	for name, tt := range map[string]struct {
		address string
		env     []string
		want    string
	}{
		"there is no such bucket":     {"s3://nobody/web.json", nil, "there is no bucket nobody"},
		"the credential is wrong":     {"s3://team/web.json", []string{"AWS_SECRET_ACCESS_KEY", "very-wrong"}, "does not accept the credential"},
		"nobody knows the credential": {"s3://team/web.json", []string{"AWS_ACCESS_KEY_ID", "very-wrong"}, "does not accept the credential"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, s, tt.address, tt.env...).Put(t.Context(), "", []byte("x"), "")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !wire.IsFinal(err) {
				t.Error(err)
			}
			if err != nil && (strings.Contains(err.Error(), buckettest.Secret) || strings.Contains(err.Error(), "very-wrong")) {
				t.Errorf("it names the credential: %v", err)
			}
		})
	}
}

func TestAnAddressIsCheckedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"s3://bucket":              "s3://BUCKET/KEY",
		"s3:///key":                "s3://BUCKET/KEY",
		"s3://bucket/folder/":      "s3://BUCKET/KEY",
		"s3://key:secret@bucket/k": "s3://BUCKET/KEY",
	} {
		if _, err := bucket.Open(address, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for endpoint, want := range map[string]string{
		"http://s3.example.com":         "use https",
		"https://key:secret@s3.example": "is not an address such as",
		"s3.example.com":                "is not an address such as",
	} {
		if _, err := bucket.Open("s3://bucket/key", func(name string) string {
			return map[string]string{"AWS_ENDPOINT_URL_S3": endpoint}[name]
		}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
