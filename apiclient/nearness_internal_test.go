package apiclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
)

func TestTheRangeOfAnAddressDecidesItsNearness(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]proximity{
		"192.0.2.1": public, "8.8.8.8": public, "2001:db8::1": public,
		"10.1.2.3": private, "172.16.0.1": private, "192.168.0.1": private, "100.64.0.1": private, "fd00::1": private,
		"169.254.169.254": linkLocal, "fe80::1%eth0": linkLocal, "224.0.0.1": linkLocal, "255.255.255.255": linkLocal,
		"198.18.0.1": private, "198.19.255.255": private, "0.1.2.3": private, "240.0.0.1": private, "2001::1": private, "100::1": private, "fd00:ec3::1": private,
		"fec0::1": linkLocal, "feff::1": linkLocal, "64:ff9b:1::a9fe:a9fe": linkLocal, "64:ff9b:1:a9fe:a9:fe00::": linkLocal, "192.0.0.192": linkLocal,
		"100.100.100.200": linkLocal, "100.100.100.201": private, "fd00:ec2::254": linkLocal, "fd20:ce::254": linkLocal, "168.63.129.16": linkLocal,
		"::ffff:100.100.100.200": linkLocal, "64:ff9b::192.0.0.192": linkLocal, "198.17.255.255": public, "192.0.1.1": public, "64:ff9b:2::1": public,
		"::ffff:0:127.0.0.1": onMachine, "::ffff:0:169.254.169.254": linkLocal, "::ffff:0:8.8.8.8": public,
		"127.0.0.1": onMachine, "127.9.9.9": onMachine, "::1": onMachine, "0.0.0.0": onMachine, "::": onMachine,
		// IPv6 addresses that embed an IPv4 address
		"::ffff:127.0.0.1": onMachine, "::127.0.0.1": onMachine, "64:ff9b::169.254.169.254": linkLocal, "2002:0a00:0001::1": private, "64:ff9b::8.8.8.8": public,
	} {
		if got := proximityOf(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}

func TestAStoreMayNotBeNearerThanTheService(t *testing.T) {
	t.Parallel()
	for service, stores := range map[proximity][]proximity{
		public: {public}, private: {public, private}, linkLocal: {public, private, linkLocal}, onMachine: {public, private, onMachine},
	} {
		allowed := map[proximity]bool{}
		for _, store := range stores {
			allowed[store] = true
		}
		for store := public; store <= onMachine; store++ {
			if got := service.allows(store); got != allowed[store] {
				t.Errorf("a service at %d names a store at %d: %t", service, store, got)
			}
		}
	}
}

func TestAnAddressInAnyFormIsCheckedBeforeAProxyResolvesIt(t *testing.T) {
	t.Parallel()
	for host, refused := range map[string]bool{
		"2130706433": true, "0x7f000001": true, "0X7F.1": true, "017700000001": true, "0177.0.0.1": true, "127.1": true, "127.0.1": true, "127.0.0.0x1": true,
		"0": true, "0x0": true, "0x": true, "2852039166": true, "0xa9fea9fe": true, "169.254.43518": true, "169.16689662": true, "0251.0376.0251.0376": true,
		"127.0.0.01": true, "010.0.0.1": true, "00000000127.0.0.1": true, "99999999999999999999": true, "256.256.256.256": true, "1.2.3.4.5": true,
		"127.0.0.1.": true, "127.0.0.1..": true, "2130706433.": true, "169.254.169.254.": true, "10.0.0.1.": true,
		"localhost": true, "LOCALHOST": true, "localhost.": true, "a.localhost": true, "a.b.LocalHost.": true,
		"\uff11\uff12\uff17.0.0.1": true, "127\u30020\uff0e0\u30021": true, "\u2460\u2461\u2466.0.0.1": true, "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3": true,
		"::1": true, "::ffff:7f00:1": true, "fe80::1%eth0": true, "0:0:0:0:0:0:0:1": true, "fec0::1": true, "64:ff9b:1::1": true,
		"files.example.com": false, "files.example.com.": false, "localhost.example.com": false, "0x7f.example": false, "my_files.example.com": false,
		"s3.eu-west-1.amazonaws.com": false, "8.8.8.8": false, "8.8.8.8.": false, "xn--bcher-kva.example": false, "b\u00fccher.example": false,
		"notlocalhost": false, "0xg.0xz": false, "2001:4860:4860::8888": false,
	} {
		if err := new(nearness).check(host); (err != nil) != refused {
			t.Errorf("%q: %v", host, err)
		}
	}
	var here nearness
	here.observe("127.0.0.1")
	for _, host := range []string{"localhost", "localhost.", "127.0.0.1."} {
		if err := here.check(host); err != nil {
			t.Errorf("%s, named by a service of this machine: %v", host, err)
		}
	}
}

func TestTheNearnessOfAServiceFollowsFromItsConnections(t *testing.T) {
	t.Parallel()
	there := httptest.NewServer(http.NotFoundHandler())
	defer there.Close()
	for to, refused := range map[string]bool{"plane.example.com:80": false, "proxy.example.com:3128": true} {
		var n nearness
		conn, err := n.observeDials("plane.example.com:80", func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, there.Listener.Addr().String())
		})(t.Context(), "tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if err := n.check("127.0.0.1"); (err != nil) != refused {
			t.Errorf("a connection to %s: %v", to, err)
		}
	}
}

// TestAServiceBehindAProxyNamesNoStoreOnThisMachine, because the nearness of the proxy does not count. It covers
// redirects to the store too.
func TestAServiceBehindAProxyNamesNoStoreOnThisMachine(t *testing.T) {
	t.Parallel()
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the canary got %s", r.URL) }))
	t.Cleanup(canary.Close)
	for name, to := range map[string]string{
		"directly": canary.URL + "/secret", "by the proxy": "http://127.0.0.1:1/secret", "by the proxy to a cloud's own": "http://169.254.169.254/secret",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "secret") {
					t.Errorf("the proxy got %s", r.URL)
				}
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
			}))
			defer proxy.Close()
			c, err := New(Config{BaseURL: "http://plane.example.com", InsecureHTTP: true, Workspace: "acme", Credential: APIKey("plane_api_x")})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			by, err := url.Parse(proxy.URL)
			if err != nil {
				t.Fatal(err)
			}
			c.transport.(*http.Transport).Proxy = func(r *http.Request) (*url.URL, error) { //nolint:forcetypeassert // as connect made it
				if net.JoinHostPort(r.URL.Hostname(), r.URL.Port()) == canary.Listener.Addr().String() {
					return nil, nil
				}
				return by, nil
			}
			const id = "9bc9cae1-b034-451c-8022-d59b61045d73"
			op, _ := resource.MustLookup("attachment").Op(resource.Download, resource.V1)
			path, err := c.Path(op, map[string]string{"project_id": id, "work_item_id": id, "attachment_id": id})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Fetch(t.Context(), op, path, 100)
			if failed, ok := errors.AsType[*StoreError](err); !ok || !strings.Contains(failed.Reason, "where the service itself is not") {
				t.Error(err)
			}
		})
	}
}
