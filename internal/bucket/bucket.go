package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/state"
)

// Scheme begins the address of a state in a bucket.
const Scheme = "s3://"

// largest is the size limit of an object in bytes, which is that of a state.
const largest = 128 << 20

// Place is a state in a bucket, with the objects beside it.
type Place struct {
	client      *minio.Client
	bucket, key string
}

var _ state.Objects = (*Place)(nil)

// Open is the place that an address such as s3://bucket/teams/web.json names. getenv reads the environment.
func Open(address string, getenv func(string) string) (*Place, error) {
	rest, _ := strings.CutPrefix(address, Scheme)
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" || key == "" || strings.HasSuffix(key, "/") || strings.ContainsAny(address, "?#@") {
		return nil, errors.New("an address in a bucket is s3://BUCKET/KEY")
	}
	endpoint, secure, lookup := "s3.amazonaws.com", true, minio.BucketLookupAuto
	if text := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")); text != "" {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
			return nil, errors.New("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not an address such as https://s3.example.com")
		case u.Scheme == "http" && !loopback(u.Hostname()):
			return nil, errors.New("the endpoint of the bucket is reached by http, which would show the credential: use https")
		}
		endpoint, secure, lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.Static{Value: credentials.Value{
				AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
				SignerType: credentials.SignatureV4,
			}},
			&credentials.FileAWSCredentials{Profile: getenv("AWS_PROFILE")},
			&credentials.IAM{},
		}),
		Secure: secure, BucketLookup: lookup, Region: cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")), MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("the endpoint of the bucket: %w", err)
	}
	return &Place{client: client, bucket: bucket, key: key}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Get implements [state.Objects].
func (p *Place) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	object, err := p.client.GetObject(ctx, p.bucket, p.key+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", p.failed(err)
	}
	defer object.Close() //nolint:errcheck // only read
	text, err = io.ReadAll(io.LimitReader(object, largest+1))
	if err != nil {
		return nil, "", p.failed(err)
	}
	if len(text) > largest {
		return nil, "", errors.New("the object has more than 128 MiB, which no state has")
	}
	info, err := object.Stat()
	if err != nil {
		return nil, "", p.failed(err)
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
		return "", p.failed(err)
	}
	return info.ETag, nil
}

// List implements [state.Objects].
func (p *Place) List(ctx context.Context, prefix string) (names []string, err error) {
	for info := range p.client.ListObjects(ctx, p.bucket, minio.ListObjectsOptions{Prefix: p.key + prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, p.failed(info.Err)
		}
		names = append(names, strings.TrimPrefix(info.Key, p.key))
	}
	return names, nil
}

// Remove implements [state.Objects].
func (p *Place) Remove(ctx context.Context, name string) error {
	err := p.failed(p.client.RemoveObject(ctx, p.bucket, p.key+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// refusal is an answer that stays what it is.
type refusal struct{ error }

// Final tells that another try is in vain.
func (refusal) Final() bool { return true }

func (r refusal) Unwrap() error { return r.error }

// failed makes an answer an error that says what to do.
func (p *Place) failed(err error) error {
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	final := func(what, hint string) error { return refusal{diag.WithHint(errors.New(what), hint)} }
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
	err = fmt.Errorf("the server of the bucket: %w", err)
	if answer.StatusCode == 0 {
		return diag.WithHint(err, "check this machine's network; AWS_ENDPOINT_URL_S3 says on which server the bucket is")
	}
	switch s := answer.StatusCode; {
	case s == 412:
		return state.ErrChanged
	case s >= 400 && s < 500 && s != 408 && s != 409 && s != 429:
		return refusal{err}
	}
	return err
}
