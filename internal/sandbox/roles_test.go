package sandbox

import (
	"fmt"
	"testing"
)

func TestV2MembershipsHaveRolesBySlug(t *testing.T) {
	t.Parallel()
	s := openCloud(t, Options{})
	list := webV2 + "members/"
	roles := want(t, ask(t, s, "GET", wsV2+"roles/", ""), 200).data(t)
	if len(roles) != 10 || roles[3]["slug"] != "reviewer" || roles[3]["is_system"] != false || roles[3]["namespace"] != "project" {
		t.Fatal(roles)
	}
	for body, status := range map[string]int{
		`{"role":"reviewer"}`: 400, `{"member_id":"` + userEve + `"}`: 400, `{"member_id":"` + userEve + `","role":"owner"}`: 400, // of the workspace
		`{"member_id":"` + userEve + `","role":15}`: 400, `{"member_id":"` + unknownID + `","role":"guest"}`: 400,
		`{"member_id":"` + userBob + `","role":"guest"}`: 409,
	} {
		want(t, ask(t, s, "POST", list, body), status)
	}
	want(t, ask(t, s, "POST", list, `{"member_id":"`+userEve+`","role":"guest"}`, "X-Api-Key", keyBob), 403)
	made := want(t, ask(t, s, "POST", list, `{"member_id":"`+userEve+`","role":"release-manager"}`), 201).object(t)
	one := list + made["id"].(string) + "/"
	number := func() string {
		for _, row := range s.Rows("project_member") {
			if row["id"] == made["id"] {
				return fmt.Sprint(row["role"])
			}
		}
		return ""
	}
	if made["member_id"] != userEve || made["role"] != "release-manager" || number() != "15" {
		t.Error(made, number())
	}
	for _, slug := range []string{"reviewer", "contributor", "guest", "admin"} {
		if got := want(t, ask(t, s, "PATCH", one, `{"role":"`+slug+`"}`), 200).object(t); got["role"] != slug {
			t.Error(got)
		}
	}
	want(t, ask(t, s, "PATCH", one, `{"member_id":"`+userBob+`"}`), 400)
	want(t, ask(t, s, "PATCH", one, `{"role":"reviewer"}`), 200)
	want(t, ask(t, s, "PATCH", "projects/"+projectWeb+"/project-members/"+made["id"].(string)+"/", `{"role":15}`), 200)
	if got := want(t, ask(t, s, "GET", list, ""), 200).data(t); got[len(got)-1]["role"] != "contributor" {
		t.Error(got)
	}
	want(t, ask(t, s, "DELETE", one, ""), 204)
	want(t, ask(t, s, "DELETE", one, ""), 404)
	want(t, ask(t, s, "GET", list, "", "X-Api-Key", keyEve), 404)
}
