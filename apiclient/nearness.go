package apiclient

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/net/idna"

	"github.com/planform/planform/internal/baseurl"
	"github.com/planform/planform/internal/wire"
)

// proximity is how near to this machine an address is. The service names the store of files, and must not reach through
// planform what it cannot reach itself: a store is used where it is no nearer than the service.
type proximity int32

const (
	public    proximity = iota
	private             // of a local network
	linkLocal           // of the local network segment, or where clouds hand out the credentials of a machine
	onMachine           // loopback
)

// mayName reports whether a service may name a store there.
func (p proximity) mayName(store proximity) bool {
	return store == p || store == public || store == private && p != public
}

// embedded returns the IPv4 address that an IPv6 address stands for.
func embedded(a netip.Addr) netip.Addr {
	b := a.As16()
	for prefix, at := range map[string]int{"64:ff9b::/96": 12, "::/96": 12, "::ffff:0:0:0/96": 12, "2002::/16": 2} {
		if netip.MustParsePrefix(prefix).Contains(a) && a != netip.IPv6Loopback() && a != netip.IPv6Unspecified() {
			return netip.AddrFrom4([4]byte(b[at : at+4]))
		}
	}
	return a
}

// within reports whether one of the ranges contains an address.
func within(a netip.Addr, ranges ...string) bool {
	return slices.ContainsFunc(ranges, func(r string) bool { return netip.MustParsePrefix(r).Contains(a) })
}

func proximityOf(a netip.Addr) proximity {
	a = embedded(a.Unmap().WithZone(""))
	switch {
	case a.IsLoopback(), a.IsUnspecified():
		return onMachine
	case !a.IsGlobalUnicast(), // link-local, multicast, broadcast
		within(a, "fec0::/10", "64:ff9b:1::/48", "192.0.0.0/24"),
		within(a, "100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32", "fd00:42::42/128"): // of clouds
		return linkLocal
	case a.IsPrivate(), within(a, "0.0.0.0/8", "100.64.0.0/10", "198.18.0.0/15", "240.0.0.0/4", "2001::/32", "100::/64"):
		return private
	default:
		return public
	}
}

// nearness is the least distance at which the service was met.
type nearness struct{ nearest atomic.Int32 }

// observe notes an address of the service; a name that is not this machine's own tells nothing.
func (n *nearness) observe(host string) {
	p := public
	if a, err := netip.ParseAddr(host); err == nil {
		p = proximityOf(a)
	} else if baseurl.Loopback(host) {
		p = onMachine
	}
	for before := n.nearest.Load(); before < int32(p) && !n.nearest.CompareAndSwap(before, int32(p)); before = n.nearest.Load() {
	}
}

// watch notes to which address each connection to the service leads. One to a proxy tells nothing.
func (n *nearness) watch(service string, dial wire.DialFunc) wire.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err == nil && addr == service {
			if host, _, wrong := net.SplitHostPort(conn.RemoteAddr().String()); wrong == nil {
				n.observe(host)
			}
		}
		return conn, err
	}
}

// guard refuses a connection to a store that is nearer than the service. It sees the address to which the name was
// resolved, immediately before the connection is made.
func (n *nearness) guard(_ context.Context, _, addr string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return n.check(host)
}

// endsInNumber matches an address of IPv4 in any form, such as 0x7f.1, and no name.
var endsInNumber = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// check refuses an address of a store, in whatever form a resolver takes for one. Any other name is judged when it is resolved.
func (n *nearness) check(host string) error {
	plain, err := idna.Lookup.ToASCII(host) // as net/http sends it
	if err != nil {
		plain = host
	}
	if plain = strings.ToLower(strings.TrimRight(plain, ".")); plain == "localhost" || strings.HasSuffix(plain, ".localhost") {
		plain = "127.0.0.1"
	}
	a, err := netip.ParseAddr(plain)
	if err != nil && endsInNumber.MatchString(plain) {
		return fmt.Errorf("its address %s is written in an unusual form: nothing is sent there", wire.OneLine(host, maxExcerpt))
	}
	if err != nil {
		return nil //nolint:nilerr // a name
	}
	if p := proximityOf(a); !proximity(n.nearest.Load()).mayName(p) {
		return &tooNearError{a, p}
	}
	return nil
}

// tooNearError is the refusal of an address that the service names.
type tooNearError struct {
	address netip.Addr
	where   proximity
}

func (e *tooNearError) Error() string {
	where := map[proximity]string{
		private: "in a private network", linkLocal: "in the local network segment",
		onMachine: "on this machine",
	}[e.where]
	return fmt.Sprintf("its address %s is %s, where the service itself is not: nothing is sent there", e.address, where)
}

// storeTransport is the transport for a request to the store: by the proxy that the environment names for it, which
// resolves the name, or else one that checks the address.
func (c *Client) storeTransport(req *http.Request) (http.RoundTripper, error) {
	t, ok := c.transport.(*http.Transport)
	if !ok || t.Proxy == nil || c.store == c.transport {
		return c.store, nil
	}
	switch proxy, err := t.Proxy(req); {
	case err != nil:
		return nil, err
	case proxy == nil:
		return c.store, nil
	default:
		return c.transport, c.near.check(req.URL.Hostname())
	}
}
