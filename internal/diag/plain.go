package diag

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

var packageName = regexp.MustCompile(`^(?:net/)?(?:http2?|tls|x509|zip|yaml|json): `)

// PlainText returns the text of an error with plain words in place of the sentences of Go's packages: no system calls, no packages.
func PlainText(err error) string {
	place := ""
	switch e := err.(type) { //nolint:errorlint // each error of the chain has its turn
	case *fs.PathError:
		if e.Path != "." {
			place = e.Path + ": "
		}
	case *os.LinkError:
		place = e.New + ": "
	case *net.OpError:
		if e.Addr != nil {
			place = e.Addr.String() + ": "
		}
	case *tls.CertificateVerificationError:
		place = "the certificate is not accepted: "
	case *os.SyscallError, *url.Error: // the address of which may hold a secret
	case *net.DNSError:
		return "the host name " + e.Name + " cannot be looked up"
	case *net.AddrError:
		return "an address has a host and a port, such as 127.0.0.1:8080"
	case interface{ Unwrap() []error }:
		text := err.Error()
		for _, inner := range e.Unwrap() {
			text = strings.Replace(text, inner.Error(), PlainText(inner), 1)
		}
		return text
	default:
		inner := errors.Unwrap(err)
		if inner == nil {
			return reason(err)
		}
		before, after, found := strings.Cut(err.Error(), inner.Error())
		if !found {
			return err.Error()
		}
		text := PlainText(inner)
		if at, rest, ok := strings.Cut(text, ": "); ok && strings.Contains(before, at) {
			text = rest // the place is named already
		}
		return before + text + after
	}
	return place + PlainText(errors.Unwrap(err))
}

// reason returns the words for an error that wraps no other.
func reason(err error) string {
	for words, errs := range map[string][]error{
		"there is no such file or folder":           {fs.ErrNotExist},
		"it exists already":                         {fs.ErrExist},
		"it is a folder, not a file":                {syscall.EISDIR},
		"a file stands where a folder should be":    {syscall.ENOTDIR},
		"another program listens there already":     {syscall.EADDRINUSE},
		"this machine does not have that address":   {syscall.EADDRNOTAVAIL},
		"connection refused: nothing listens there": {syscall.ECONNREFUSED},
		"the connection was closed early":           {syscall.ECONNRESET, syscall.EPIPE},
		"it ends too early":                         {io.EOF, io.ErrUnexpectedEOF},
		"no answer in time":                         {context.DeadlineExceeded, os.ErrDeadlineExceeded},
	} {
		if slices.ContainsFunc(errs, func(known error) bool { return errors.Is(err, known) }) {
			return words
		}
	}
	return packageName.ReplaceAllString(err.Error(), "")
}
