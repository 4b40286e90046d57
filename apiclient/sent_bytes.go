package apiclient

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/planform/planform/internal/http/wire"
)

// countingConn counts the bytes written to a connection.
type countingConn struct {
	net.Conn
	written atomic.Int64
}

func (cc *countingConn) Write(p []byte) (int, error) {
	n, err := cc.Conn.Write(p)
	cc.written.Add(int64(n))
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

// countingConnOf returns the countingConn below a connection of the transport, or nil.
func countingConnOf(conn net.Conn) *countingConn {
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

// sending observes one attempt, to find out whether any byte can have reached the service. If there was a connection, this is possible,
// unless the connection counts bytes and has written none.
type sending struct {
	mu    sync.Mutex
	conn  *countingConn
	start int64
	maybe bool // bytes may have been sent on an earlier or unknown connection
}

func (sg *sending) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		sg.mu.Lock()
		defer sg.mu.Unlock()
		sg.maybe = sg.bytesSentLocked()
		sg.conn = countingConnOf(info.Conn)
		if sg.conn == nil {
			sg.maybe = true
			return
		}
		sg.start = sg.conn.written.Load()
	}}
}

// bytesSent reports whether the attempt can have reached the service. It must be called after the transport has given up, when the writer
// of the connection has ended.
func (sg *sending) bytesSent() bool {
	sg.mu.Lock()
	defer sg.mu.Unlock()
	return sg.bytesSentLocked()
}

func (sg *sending) bytesSentLocked() bool {
	return sg.maybe || sg.conn != nil && sg.conn.written.Load() != sg.start
}
