package planner

import "github.com/planform/planform/internal/plan/target"

// Settings are the choices of a user that shape a plan. The flags of the command line, a saved plan and [Build] read them from here.
// The JSON is part of a saved plan, and of its checksum: new members come last.
type Settings struct {
	// SkipRefresh leaves out every read that only refreshes what the state knows.
	SkipRefresh bool `json:"no_refresh,omitempty"`
	// RefreshAll also makes the reads that refresh one object each, however many they are.
	RefreshAll bool `json:"refresh_all,omitempty"`
	// Targets limits the objects that may be deleted. [Input.Desired] is limited already: it holds the targets and the objects that they need.
	Targets target.List `json:"targets,omitempty"`
	// NoCreate names kinds. The plan creates no object of them.
	NoCreate []string `json:"no_create,omitempty"`
	// OnDrift decides about fields that somebody changed on the service.
	OnDrift OnDrift `json:"on_drift,omitempty"`
	// Order is the order of creation that a user asked for, such as "any"; "" = the manifest's. [Input] holds the order that results.
	Order string `json:"order,omitempty"`
	// Prune deletes objects that an earlier apply made and the manifest no longer has.
	Prune bool `json:"prune,omitempty"`
	// DeleteChanged lets Prune also delete objects that others changed or use, or that hold objects of others.
	DeleteChanged bool `json:"delete_changed,omitempty"`
	// AdoptByName lets work items be recognised by their name.
	AdoptByName bool `json:"adopt_by_name,omitempty"`
	// TakeOver transfers objects that the manifest names from other owners to its owner.
	TakeOver bool `json:"take_over,omitempty"`
	// MarkAdopted puts the owner's mark on adopted objects that have no mark.
	MarkAdopted bool `json:"mark_adopted,omitempty"`
	// Invite invites people to the workspace if the manifest gives their e-mail address.
	Invite bool `json:"invite,omitempty"`
	// NewSecrets asks for a new secret of each object whose file for it is empty. The former secret stops working.
	NewSecrets bool `json:"new_secrets,omitempty"`
	// DeleteUnrecorded lets Prune delete also objects that the state does not know, although they may have been protected.
	DeleteUnrecorded bool `json:"delete_unrecorded,omitempty"`
}

// Switch is a setting that is on or off.
type Switch struct {
	Flag  string // without dashes
	Usage string
	On    *bool
}

// Switches lists the settings that are on or off, in the order of the help.
func (sn *Settings) Switches() []Switch {
	return []Switch{
		{"no-refresh", "trust the state file: do not read its objects again", &sn.SkipRefresh},
		{"refresh-all", "also read links, comments and relations again, which take one request per object", &sn.RefreshAll},
		{"prune", "delete objects that planform created and that are no longer in the manifest", &sn.Prune},
		{"delete-changed", "with --prune, also delete objects that others changed, use, or added comments or other contents to", &sn.DeleteChanged},
		{"delete-unrecorded", "with --prune, also delete objects with the owner's mark that the state does not have", &sn.DeleteUnrecorded},
		{"adopt-by-name", "adopt existing work items by their names", &sn.AdoptByName},
		{"mark-adopted", "mark adopted objects, so that planform finds and prunes them without a state file", &sn.MarkAdopted},
		{"invite", "invite people of the manifest who are not in the workspace; the community edition sends no e-mail", &sn.Invite},
		{"new-secrets", "ask for a new secret of each webhook whose secret_file is empty; the old secret stops working", &sn.NewSecrets},
		{"take-over", "transfer the manifest's objects from other or unknown owners to this one; --target limits it", &sn.TakeOver},
	}
}

// OnDrift decides about a field that somebody changed on the service since the last apply, and that is not as the manifest wants it:
// one of [resource.DriftPolicies], or "" for Overwrite.
type OnDrift string

// Overwrite sends the value of the manifest. Keep leaves the value of the service. With Fail, such a field is an error of the plan.
const (
	Overwrite OnDrift = "overwrite"
	Keep      OnDrift = "keep"
	Fail      OnDrift = "fail"
)
