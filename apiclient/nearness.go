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

	"github.com/planform/planform/internal/http/baseurl"
	"github.com/planform/planform/internal/http/wire"
)

// proximity ranks addresses by their nearness to this machine. The service names the file store, and must not use planform to reach
// addresses that it cannot reach itself. So a store may not be nearer than the service.
type proximity int32

const (
	public    proximity = iota
	private             // in a private network
	linkLocal           // in the local network segment, or an address where clouds give a machine its credentials
	onMachine           // loopback
)

// allows reports whether a service at p may name a store.
func (p proximity) allows(store proximity) bool {
	return store == p || store == public || store == private && p != public
}

// embeddedIPv4 returns the IPv4 address that an IPv6 address embeds, or the address itself.
func embeddedIPv4(a netip.Addr) netip.Addr {
	b := a.As16()
	for prefix, at := range map[string]int{"64:ff9b::/96": 12, "::/96": 12, "::ffff:0:0:0/96": 12, "2002::/16": 2} {
		if netip.MustParsePrefix(prefix).Contains(a) && a != netip.IPv6Loopback() && a != netip.IPv6Unspecified() {
			return netip.AddrFrom4([4]byte(b[at : at+4]))
		}
	}
	return a
}

// inRanges reports whether one of the ranges contains an address.
func inRanges(a netip.Addr, ranges ...string) bool {
	return slices.ContainsFunc(ranges, func(r string) bool { return netip.MustParsePrefix(r).Contains(a) })
}

func proximityOf(a netip.Addr) proximity {
	a = embeddedIPv4(a.Unmap().WithZone(""))
	switch {
	case a.IsLoopback(), a.IsUnspecified():
		return onMachine
	case !a.IsGlobalUnicast(), // link-local, multicast, broadcast
		inRanges(a, "fec0::/10", "64:ff9b:1::/48", "192.0.0.0/24"),
		inRanges(a, "100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32", "fd00:42::42/128"): // of clouds
		return linkLocal
	case a.IsPrivate(), inRanges(a, "0.0.0.0/8", "100.64.0.0/10", "198.18.0.0/15", "240.0.0.0/4", "2001::/32", "100::/64"):
		return private
	default:
		return public
	}
}

// nearness holds the nearest proximity at which the service was seen.
type nearness struct{ nearest atomic.Int32 }

// observe records an address of the service. A name does not count, except a name of this machine.
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

// observeDials records the address of each connection to the service. Connections to a proxy do not count.
func (n *nearness) observeDials(service string, dial wire.DialFunc) wire.DialFunc {
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

// guard refuses a connection to a store that is nearer than the service. It gets the resolved address, immediately before the connection is
// made.
func (n *nearness) guard(_ context.Context, _, addr string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return n.check(host)
}

// endsInNumber matches an IPv4 address in any form, such as 0x7f.1, and no name.
var endsInNumber = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// check returns an error if the host of a file store is an address that this service may not name, in whatever notation, see [proximity].
// The address behind a host name is checked later, when the name is resolved.
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
	if p := proximityOf(a); !proximity(n.nearest.Load()).allows(p) {
		return &tooNearError{a, p}
	}
	return nil
}

// tooNearError is the refusal of a store address.
type tooNearError struct {
	address   netip.Addr
	proximity proximity
}

func (tn *tooNearError) Error() string {
	where := map[proximity]string{
		private: "in a private network", linkLocal: "in the local network segment",
		onMachine: "on this machine",
	}[tn.proximity]
	return fmt.Sprintf("its address %s is %s, where the service itself is not: nothing is sent there", tn.address, where)
}

// storeTransport returns the transport for a request to the store: the proxy of the environment, which resolves the name, or otherwise a
// transport that checks the address.
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
