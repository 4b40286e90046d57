package diag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
)

var goPackage = regexp.MustCompile(`^(?:net/)?(?:http2?|tls|x509|zip|yaml|json): `)

// PlainText returns the text of an error in plain words, without system calls and names of Go packages.
func PlainText(err error) string {
	switch e := err.(type) { //nolint:errorlint // each error of the chain is handled
	case *fs.PathError:
		return strings.TrimPrefix(e.Path+": ", ".: ") + PlainText(e.Err)
	case *os.LinkError:
		return e.New + ": " + PlainText(e.Err)
	case *net.OpError:
		return strings.TrimPrefix(fmt.Sprint(e.Addr)+": ", "<nil>: ") + PlainText(e.Err)
	case *os.SyscallError, *url.Error: // its address may contain a secret
		return PlainText(errors.Unwrap(err))
	case *net.DNSError:
		return "the host name " + e.Name + " cannot be looked up"
	}
	wrapped, several := err.(interface{ Unwrap() []error })
	inner := []error{errors.Unwrap(err)}
	if several {
		inner = wrapped.Unwrap()
	}
	text := goPackage.ReplaceAllString(err.Error(), "")
	for _, cause := range inner {
		if cause == nil {
			return reason(err, text)
		}
		plain := PlainText(cause)
		place, _, _ := strings.Cut(plain, ": ")
		text = strings.Replace(strings.Replace(text, cause.Error(), plain, 1), place+": "+place+": ", place+": ", 1)
	}
	return text
}

// reason returns the words for an error that wraps no other error, or its own text.
func reason(err error, otherwise string) string {
	for cause, words := range map[error]string{
		fs.ErrNotExist: "no such file or folder", fs.ErrExist: "it exists already",
		syscall.EISDIR: "it is a folder, not a file", syscall.ENOTDIR: "a file stands where a folder should be",
		syscall.EADDRINUSE: "another program listens there already", syscall.ECONNREFUSED: "connection refused: nothing listens there",
		syscall.ECONNRESET: "the connection was closed early", io.EOF: "it ends too early", io.ErrUnexpectedEOF: "it ends too early",
		context.DeadlineExceeded: "no answer in time", os.ErrDeadlineExceeded: "no answer in time",
	} {
		if errors.Is(err, cause) {
			return words
		}
	}
	return otherwise
}
