package diag_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/text/diag"
)

// goWords lists beginnings of messages of Go's packages.
var goWords = regexp.MustCompile(`\b(open|stat|lstat|mkdir|read|write|rename|bind|connect|getsockopt|dial tcp|listen tcp|lookup|x509|tls|yaml|json) ?\S*: |EOF|context deadline|file exists|no such file or directory`)

func TestAPlainErrorContainsNoMessagesOfGo(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join("no", "such"))
	dialled := &net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{missing, filepath.Join("no", "such") + ": no such file or folder"},
		{fmt.Errorf("no credential: %w", missing), "no credential: " + filepath.Join("no", "such") + ": no such file or folder"},
		{&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOTDIR}, "x: a file stands where a folder should be"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EEXIST}, "b: it exists already"},
		{fmt.Errorf("listen on 127.0.0.1:9: %w", dialled), "listen on 127.0.0.1:9: connection refused: nothing listens there"},
		{&url.Error{Op: "Get", URL: "https://h/?sig=secret", Err: dialled}, "127.0.0.1:9: connection refused: nothing listens there"},
		{&net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}, "another program listens there already"},
		{&net.DNSError{Name: "h.invalid", Err: "no such host", IsNotFound: true}, "the host name h.invalid cannot be looked up"},
		{errors.Join(missing, io.ErrUnexpectedEOF), filepath.Join("no", "such") + ": no such file or folder\nit ends too early"},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), "asking: no answer in time"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "failed to verify certificate: certificate signed by unknown authority"},
		{diag.WithHint(fmt.Errorf("a: %w", missing), "b"), "a: " + filepath.Join("no", "such") + ": no such file or folder"},
		{errors.New("as it is"), "as it is"},
	} {
		if got := diag.PlainText(tt.err); got != tt.want || goWords.MatchString(got) {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
