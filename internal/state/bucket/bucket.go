package bucket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
)

// Scheme begins the address of a state in a bucket.
const Scheme = "s3://"

// Size limits in bytes: of an object, which is a state at most, and of every other answer, such as a page of a list.
const (
	maxObject = 128 << 20
	maxAnswer = 8 << 20
)

// Place is a state in a bucket, with the objects beside it.
type Place struct {
	client      *minio.Client
	bucket, key string
	secrets     wire.Secrets
}

var _ state.Objects = (*Place)(nil)

// Open returns the place that an address such as s3://bucket/teams/web.json names. getenv reads the environment.
func Open(address string, getenv func(string) string) (*Place, error) {
	rest, _ := strings.CutPrefix(address, Scheme)
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" || key == "" || strings.HasSuffix(key, "/") || strings.ContainsAny(address, "?#@") {
		return nil, errors.New("the address of a state in a bucket is s3://BUCKET/KEY")
	}
	endpoint, secure, lookup := "s3.amazonaws.com", true, minio.BucketLookupAuto
	if text := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")); text != "" {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(text, "?#") || u.Scheme != "https" && u.Scheme != "http":
			return nil, errors.New("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not an address such as https://s3.example.com")
		case u.Scheme == "http" && !baseurl.Loopback(u.Hostname()):
			return nil, errors.New("the endpoint of the bucket uses http, which would expose the credential: use https")
		}
		endpoint, secure, lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
	}
	static := credentials.Value{
		AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
		SignerType: credentials.SignatureV4,
	}
	transport := wire.New(wire.Dialer().DialContext)
	transport.DisableCompression = true // read an object as it was written, whatever its headers say
	client, err := minio.New(endpoint, &minio.Options{
		Transport: wire.Limited{RoundTripper: transport, Most: func(r *http.Request) int64 {
			if r.Method == http.MethodGet && r.URL.RawQuery == "" && strings.Contains(r.URL.Path+".", "/"+key+".") { // an object
				return maxObject
			}
			return maxAnswer
		}},
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.Static{Value: static},
			&credentials.FileAWSCredentials{Profile: getenv("AWS_PROFILE")},
			&credentials.IAM{},
		}),
		Secure: secure, BucketLookup: lookup, Region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")), MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("the endpoint of the bucket: %w", err)
	}
	return &Place{client, bucket, key, wire.Secrets{static.AccessKeyID, static.SecretAccessKey, static.SessionToken}}, nil
}

// Get implements [state.Objects].
func (p *Place) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	object, err := p.client.GetObject(ctx, p.bucket, p.key+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", p.explain(ctx, err)
	}
	defer object.Close() //nolint:errcheck // only read
	text, err = io.ReadAll(object)
	if err != nil {
		return nil, "", p.explain(ctx, err)
	}
	info, err := object.Stat()
	if err != nil {
		return nil, "", p.explain(ctx, err)
	}
	return text, info.ETag, nil
}

// Put implements [state.Objects].
func (p *Place) Put(ctx context.Context, name string, text []byte, version string) (string, error) {
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
	if version == "" {
		options.SetMatchETagExcept("*")
	} else {
		options.SetMatchETag(version)
	}
	info, err := p.client.PutObject(ctx, p.bucket, p.key+name, bytes.NewReader(text), int64(len(text)), options)
	if err != nil {
		return "", p.explain(ctx, err)
	}
	return info.ETag, nil
}

// List implements [state.Objects].
func (p *Place) List(ctx context.Context, prefix string) (names []string, err error) {
	for info := range p.client.ListObjects(ctx, p.bucket, minio.ListObjectsOptions{Prefix: p.key + prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, p.explain(ctx, info.Err)
		}
		names = append(names, strings.TrimPrefix(info.Key, p.key))
	}
	return names, nil
}

// Remove implements [state.Objects].
func (p *Place) Remove(ctx context.Context, name string) error {
	err := p.explain(ctx, p.client.RemoveObject(ctx, p.bucket, p.key+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// explain returns the error for an answer, with the next step as its hint.
func (p *Place) explain(ctx context.Context, err error) error {
	const server = "the server of the bucket"
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	answer := minio.ToErrorResponse(err)
	final := func(what, hint string) error { return wire.Final(diag.WithHint(errors.New(what), hint)) }
	switch answer.Code {
	case "PreconditionFailed":
		return state.ErrChanged
	case "NoSuchKey":
		return fs.ErrNotExist
	case "NoSuchBucket":
		return final("there is no bucket "+p.bucket, "make it, or name another one with --state; AWS_ENDPOINT_URL_S3 says on which server it is")
	case "AccessDenied", "Forbidden", "AllAccessDisabled":
		return final("the credential may not do that in the bucket "+p.bucket, "it needs to list, read, write and delete objects that begin with "+p.key)
	case "InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch", "InvalidTokenId", "ExpiredToken", "XMinioInvalidIAMCredentials":
		return final("the server of the bucket does not accept the credential", "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN")
	case "AuthorizationHeaderMalformed", "PermanentRedirect":
		return final("the bucket "+p.bucket+" is in another region", "set AWS_REGION")
	case "NotImplemented":
		return final("the server of the bucket has no conditional writes (If-Match, If-None-Match)", "they keep two runs apart: use a store that has them")
	}
	syntax, _ := errors.AsType[*xml.SyntaxError](err)
	other, _ := errors.AsType[xml.UnmarshalError](err)
	switch {
	case syntax != nil, other != "", strings.HasPrefix(strings.TrimSpace(answer.Message), "<"):
		return final(server+" gives something else than S3's API, perhaps a login page", "check AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL")
	case answer.StatusCode == 0 || ctx.Err() != nil:
		return p.secrets.Failed(ctx, server, p.client.EndpointURL().Scheme, err)
	}
	secrets := p.secrets
	if v, failed := p.client.GetCreds(); failed == nil { // the credential in use may come from a profile or the machine
		secrets = append(slices.Clone(secrets), v.AccessKeyID, v.SecretAccessKey, v.SessionToken)
	}
	err = errors.New(server + ": " + secrets.Line(err.Error()))
	switch s := answer.StatusCode; {
	case s == http.StatusPreconditionFailed:
		return state.ErrChanged
	case s == http.StatusRequestEntityTooLarge || answer.Code == "EntityTooLarge":
		return final(err.Error(), "the state is larger than the server accepts: raise its limit for a request, or use another store")
	case s >= 400 && s < 500 && s != 408 && s != 409 && s != 429:
		return wire.Final(err)
	}
	return err
}
