package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// invitations returns an invitation for each e-mail address in the manifest that no member of the workspace has. An existing invitation is
// recognised by the address.
func (in *Input) invitations(service *loader) (wanted []*resource.Object) {
	k, seen := resource.MustLookup(resource.Invitation), map[string]bool{}
	field, _ := k.Field("email")
	for _, o := range in.Desired {
		for i := range o.Values {
			for _, r := range o.Values[i].Refs {
				email := strings.ToLower(r.Text)
				if !in.invites(o.Values[i].Field, &r) || seen[email] {
					continue
				}
				seen[email] = true
				wanted = append(wanted, &resource.Object{
					Kind: k, Key: email, Address: resource.NewAddress(k.Name, email), Position: r.Position, Files: o.Files,
					Values: []resource.Value{{Field: field, Text: email, Position: r.Position}},
				})
			}
		}
	}
	members, ok := resource.MustLookup("member").Op(resource.List, in.API)
	if !ok || len(wanted) == 0 {
		return nil
	}
	a := service.askAt(members, map[string]string{"workspace_slug": in.Workspace})
	if a.Unsupported || a.Forbidden {
		return nil
	}
	return slices.DeleteFunc(wanted, func(o *resource.Object) bool {
		return slices.ContainsFunc(a.Rows, func(row resource.Row) bool { return strings.ToLower(row.Text("email")) == o.Key })
	})
}

// invites reports whether a field names somebody who is invited if they are not in the workspace. Fields of an imported past, such as an
// author, invite nobody.
func (in *Input) invites(f *resource.Field, r *resource.Reference) bool {
	return in.Invite && f.Ref == "member" && !f.Past && r.Target == nil && r.ID == "" && strings.Contains(r.Text, "@")
}

// onceAccepted says how to go on after an invitation. The community edition sends no mail with it.
const onceAccepted = "apply again then; if no mail came, an admin finds the link in Settings, Members"

// notAccepted returns the cause why an invited person cannot be named yet. If the person accepted but is not in the workspace, they left or
// have no account yet. Planform cannot tell which, and does not invite them again, because a mail cannot be taken back.
func notAccepted(email string, accepted bool) Cause {
	if accepted {
		return refused(email + " accepted an invitation and is no member; to invite this person again, delete the invitation in Plane")
	}
	return Cause{NotAccepted, email + " is invited to the workspace, and has not accepted yet: " + onceAccepted, email}
}
