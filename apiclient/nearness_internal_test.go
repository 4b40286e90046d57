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

	"github.com/planform/planform/internal/resource"
)

func TestAnAddressIsNearByItsRange(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]proximity{
		"192.0.2.1": public, "8.8.8.8": public, "2001:db8::1": public,
		"10.1.2.3": private, "172.16.0.1": private, "192.168.0.1": private, "100.64.0.1": private, "fd00::1": private,
		"169.254.169.254": linkLocal, "fe80::1%eth0": linkLocal, "224.0.0.1": linkLocal, "255.255.255.255": linkLocal,
		"127.0.0.1": onMachine, "127.9.9.9": onMachine, "::1": onMachine, "0.0.0.0": onMachine, "::": onMachine,
		// IPv6 addresses that stand for one of IPv4
		"::ffff:127.0.0.1": onMachine, "::127.0.0.1": onMachine, "64:ff9b::169.254.169.254": linkLocal, "2002:0a00:0001::1": private, "64:ff9b::8.8.8.8": public,
	} {
		if got := proximityOf(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}

func TestAServiceNamesStoresThatAreNoNearerThanItself(t *testing.T) {
	t.Parallel()
	for service, stores := range map[proximity][]proximity{
		public: {public}, private: {public, private}, linkLocal: {public, private, linkLocal}, onMachine: {public, private, onMachine},
	} {
		allowed := map[proximity]bool{}
		for _, store := range stores {
			allowed[store] = true
		}
		for store := public; store <= onMachine; store++ {
			if got := service.mayName(store); got != allowed[store] {
				t.Errorf("a service at %d names a store at %d: %t", service, store, got)
			}
		}
	}
}

func TestAServiceIsWhereItsConnectionsLead(t *testing.T) {
	t.Parallel()
	there := httptest.NewServer(http.NotFoundHandler())
	defer there.Close()
	for to, refused := range map[string]bool{"plane.example.com:80": false, "proxy.example.com:3128": true} {
		var n nearness
		conn, err := n.watch("plane.example.com:80", func(ctx context.Context, network, _ string) (net.Conn, error) {
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

// TestAServiceBehindAProxyNamesNoStoreOnThisMachine: that the proxy is there says nothing about the service. It also leads to
// the store by a redirect.
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
