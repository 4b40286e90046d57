package apiclient

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/planform/planform/internal/wire"
)

// countingConn counts the bytes written to a connection.
type countingConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err //nolint:wrapcheck // a net.Conn's errors are passed on as they are
}

func countWrites(dial wire.DialFunc) wire.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &countingConn{Conn: conn}, nil
	}
}

// counting finds the countingConn below a connection of the transport.
func counting(conn net.Conn) *countingConn {
	for {
		switch c := conn.(type) {
		case *countingConn:
			return c
		case interface{ NetConn() net.Conn }: // *tls.Conn
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// sending follows one attempt, to know whether any byte can have reached the service. With
// a connection one can, unless the connection counts bytes and has written none.
type sending struct {
	mu    sync.Mutex
	conn  *countingConn
	start int64
	maybe bool // bytes may have gone out on an earlier or an unknown connection
}

func (s *sending) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.maybe = s.bytesSentLocked()
		s.conn = counting(info.Conn)
		if s.conn == nil {
			s.maybe = true
			return
		}
		s.start = s.conn.written.Load()
	}}
}

// bytesSent reports whether the attempt can have reached the service. It must be called
// after the transport has given up, when the writer of the connection has ended.
func (s *sending) bytesSent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytesSentLocked()
}

func (s *sending) bytesSentLocked() bool {
	return s.maybe || s.conn != nil && s.conn.written.Load() != s.start
}
