package sandbox

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// look gets a page as a browser does.
func look(t *testing.T, s *Server, path string) string {
	t.Helper()
	a := want(t, ask(t, s, "GET", path, "", "X-Api-Key", "", "Accept", "text/html"), 200)
	if a.header.Get("Content-Type") != htmlText || !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%s: %v", path, a.header)
	}
	return a.body
}

// textOf returns the text of a page.
func textOf(page string) string {
	_, body, _ := strings.Cut(page, "<main>")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " ")), " ")
}

func TestThePageShowsWhatTheWorkspaceHas(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	sub := want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/", `{"name":"Ask for it","priority":"high","parent":"`+workItemWeb1+`","assignees":["`+userBob+`"]}`), 201).object(t)
	items := `{"issues":["` + workItemWeb1 + `"]}`
	want(t, ask(t, s, "POST", "projects/"+projectWeb+"/cycles/"+cycleSprint14+"/cycle-issues/", items), 200)
	want(t, ask(t, s, "POST", "projects/"+projectWeb+"/modules/"+moduleCheckout+"/module-issues/", items), 200)
	want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/"+workItemWeb1+"/relations/", `{"relation_type":"blocked_by","issues":["`+sub["id"].(string)+`"]}`), 201)
	want(t, ask(t, s, "POST", "initiatives/"+initiativeNorth+"/projects/", `{"project_ids":["`+projectWeb+`"]}`), 200)
	for path, shown := range map[string][]string{
		"/": {
			"Projects 2 WEB Website work items: 2 OPS Operations", "Initiatives 1 Grow in the north", "Teamspaces 1 Platform", "Customers 2 Globex Initech",
			"Pages 1 Welcome", "Members 3 ada ada@example.com bob", "Relation definitions 1 Relates to",
		},
		"/acme/projects/" + projectWeb + "/issues": {
			"Public site", "Work items 2 Backlog 2 WEB-1 Publish the old price list WEB-2 Ask for it high · bob Todo 0", "Cycles 2 Sprint 14 2030-01-07 – 2030-01-18 Sprint 15",
			"Modules 1 Checkout", "Labels 3 backend", "Estimates 1 Points", "Project members 2 ada ada@example.com bob", "Initiative Grow in the north",
		},
		"/acme/browse/WEB-1": {
			"WEB-1 Publish the old price list As a PDF, until the new one is approved.", "Relations 1 WEB-2 Ask for it blocked by", "Sub-items 1 WEB-2 Ask for it Backlog · high · bob",
			"Links 1 Price list", "Comments 1 ada", "The PDF is ready.", "State Backlog", "Cycle Sprint 14", "Module Checkout",
		},
		"/acme/browse/WEB-2": {"Relations 1 WEB-1 Publish the old price list blocking", "Parent WEB-1", "Assignees bob"},
		"/acme/projects/" + projectWeb + "/issues/" + workItemWeb1:    {"WEB-1 Publish the old price list"},
		"/acme/projects/" + projectWeb + "/cycles/" + cycleSprint14:   {"Sprint 14", "Work items 1 WEB-1 Publish the old price list"},
		"/acme/projects/" + projectWeb + "/modules/" + moduleCheckout: {"Checkout Basket, payment, receipt Work items 1 WEB-1"},
		"/acme/wiki/" + pageWelcome + "/":                             {"Welcome Start here."},
		"/acme/customer/" + customerGlobex:                            {"Globex Customer requests 1 Dark mode For night shifts.", "Email hello@globex.example"},
		"/acme/initiative/" + initiativeNorth:                         {"Grow in the north Projects 1 WEB Website", "State ACTIVE"},
	} {
		got := textOf(look(t, s, path))
		for _, text := range shown {
			if !strings.Contains(got, text) {
				t.Errorf("%s does not show %q\n%s", path, text, got)
			}
		}
	}
}

func TestEachLinkOfThePageLeadsToAPage(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{Quirks: Quirks{Prefix: "/plane"}})
	seen := map[string]bool{"/plane/": true}
	for todo := []string{"/plane/"}; len(todo) > 0; todo = todo[1:] {
		for _, link := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(look(t, s, todo[0]), -1) {
			if !seen[link[1]] {
				seen[link[1]], todo = true, append(todo, link[1])
			}
		}
	}
	if len(seen) != 13 { // the workspace, two projects, three cycles, a module, an item, an initiative, a teamspace, two customers, and a page
		t.Error(len(seen), seen)
	}
}

func TestThePageShowsTextsOfPeopleWithoutTheirScriptsAndStyles(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert(1)</script><p onclick="alert(2)" style="position:fixed" class="board" id="x">one<img src="https://evil.example/x.png" alt="a &quot;plan&quot;" onerror="alert(3)"></p>` +
		`<a href="javascript:alert(4)">two</a> <a href="/acme/wiki/1" target="_top">three</a><svg><a xlink:href="javascript:alert(5)"><script>alert(6)</script></a></svg>` +
		`<form action="https://evil.example"><input name="q" value="7"><button>four</button></form><iframe src="https://evil.example"></iframe><h1>five</h1>` +
		`<math><mtext><table><mglyph><style><img src=x onerror=alert(8)></style></mglyph></table></mtext></math><base href="https://evil.example/"><ul><li><input type="checkbox" checked> six</li></ul>`
	s := openTest(t, Options{})
	item := "projects/" + projectWeb + "/work-items/" + workItemWeb1 + "/"
	quoted := func(text string) string { return string(encode(text)) }
	want(t, ask(t, s, "POST", item+"comments/", `{"comment_html":`+quoted(evil)+`}`), 201)
	want(t, ask(t, s, "PATCH", item, `{"name":"<script>alert(9)</script>\"><b>","description_html":`+quoted(evil)+`}`), 200)
	want(t, ask(t, s, "POST", item+"links/", `{"url":"https://example.com/?a=\"><b>","title":"<b>link</b>"}`), 201)
	want(t, ask(t, s, "POST", "projects/"+projectWeb+"/labels/", `{"name":"</style><script>alert(10)</script>","color":"#123456"}`), 201)
	want(t, ask(t, s, "PATCH", "customers/"+customerGlobex+"/requests/"+requestDarkMode+"/", `{"link":"javascript:alert(11)","description_html":`+quoted(evil)+`}`), 200)
	for _, path := range []string{"/", "/acme/project/" + projectWeb, "/acme/browse/WEB-1", "/acme/customer/" + customerGlobex} {
		page, err := html.Parse(strings.NewReader(look(t, s, path)))
		if err != nil {
			t.Fatal(err)
		}
		level := 0
		for n := range page.Descendants() {
			if n.Type == html.ElementNode && len(n.Data) == 2 && n.Data[0] == 'h' {
				if at := int(n.Data[1] - '0'); at > level+1 {
					t.Errorf("%s has a heading %s after a heading of the level %d", path, n.Data, level)
				} else {
					level = at
				}
			}
			if n.Type == html.ElementNode && strings.Contains(" script img iframe form input button base svg:a math object embed b ", " "+n.Data+" ") {
				t.Errorf("%s has an element %s", path, n.Data)
			}
			for _, a := range n.Attr {
				to, err := url.Parse(a.Val)
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "target" || a.Key == "href" && (err != nil || to.Scheme == "javascript") {
					t.Errorf("%s has the attribute %s=%q", path, a.Key, a.Val)
				}
			}
		}
	}
	shown := textOf(look(t, s, "/acme/browse/WEB-1"))
	for _, text := range []string{"&lt;script&gt;alert(9)&lt;/script&gt;", `one[image a "plan"]`, "two", "three", "five", "☑ six"} {
		if strings.Count(shown, text) == 0 {
			t.Errorf("no %q in %s", text, shown)
		}
	}
}

func TestANameThatRunsFromRightToLeftKeepsItsOrderOnThePage(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	want(t, ask(t, s, "PATCH", "projects/"+projectWeb+"/work-items/"+workItemWeb1+"/", `{"name":"العنصر مع English داخل"}`), 200)
	for path, name := range map[string]string{"/acme/browse/WEB-1": "<bdi>العنصر مع English داخل</bdi></h1>", "/acme/project/" + projectWeb: ` dir="auto">العنصر مع English داخل</a>`} {
		if page := look(t, s, path); !strings.Contains(page, name) {
			t.Errorf("%s: no %s in\n%s", path, name, page)
		}
	}
}

func TestRelationsOfThePageStandInTheOrderOfTheNumbers(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	var others []string
	for range 11 {
		others = append(others, want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/", `{"name":"Another"}`), 201).object(t)["id"].(string))
	}
	for _, other := range slices.Backward(others) {
		want(t, ask(t, s, "POST", "projects/"+projectWeb+"/work-items/"+other+"/relations/", `{"relation_type":"blocked_by","issues":["`+workItemWeb1+`"]}`), 201)
	}
	if got := textOf(look(t, s, "/acme/browse/WEB-1")); !regexp.MustCompile(`Relations 11 WEB-2 .* WEB-3 .* WEB-9 .* WEB-10 .* WEB-12 `).MatchString(got) {
		t.Error(got)
	}
}

func TestThePageIsReadOnlyAndOtherPathsHaveNoRoute(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	for _, path := range []string{"/acme/browse/WEB-99", "/acme/browse/WEB", "/acme/wiki/" + unknownID, "/acme/settings", "/other", "/acme/label/" + labelBug} {
		if a := ask(t, s, "GET", path, ""); a.status != 404 || strings.Contains(a.body, "<html") {
			t.Error(path, a.status, a.body)
		}
	}
	for _, method := range []string{"POST", "PATCH", "DELETE"} {
		if a := ask(t, s, method, "/acme/browse/WEB-1", ""); a.status != 404 {
			t.Error(method, a.status, a.body)
		}
	}
	if a := ask(t, s, "HEAD", "/", ""); a.status != 200 || a.body != "" {
		t.Error(a)
	}
}

func TestThePageAnswersToNamesOfThisMachineOnly(t *testing.T) {
	t.Parallel()
	s := openTest(t, Options{})
	base, err := s.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(base, "http://")
	for host, status := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "localhost:1": 200, address: 200} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		answered, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answered.StatusCode != status {
			t.Errorf("%s: %d, want %d", host, answered.StatusCode, status)
		}
		_, _ = answered.Body.Close(), conn.Close()
	}
}

func TestALongListOfThePageSaysHowManyItLeavesOut(t *testing.T) {
	t.Parallel()
	people := make([]string, mostEntries)
	for i := range people {
		people[i] = "p" + valueText(integer(i)) + "@my.example"
	}
	if got := textOf(look(t, openTest(t, Options{People: people}), "/")); !strings.Contains(got, "Members 503 ") || !strings.HasSuffix(got, " and 3 more") {
		t.Error(got)
	}
}

func TestDataOfAnotherWorkspaceIsServedAsThatWorkspace(t *testing.T) {
	t.Parallel()
	o := Options{Path: filepath.Join(t.TempDir(), "a.db"), Workspace: "mine"}
	if err := openTest(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	o.Workspace = ""
	s := openTest(t, o)
	if s.Workspace() != "mine" || !strings.HasPrefix(textOf(look(t, s, "/mine/")), "mine ") {
		t.Error(s.Workspace())
	}
	want(t, ask(t, s, "GET", "/api/v1/workspaces/mine/projects/", ""), 200)
	if name := openTest(t, Options{}).Workspace(); name != Workspace {
		t.Error(name)
	}
}
