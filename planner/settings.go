package planner

// Settings are the choices of a user that shape a plan. The flags of the command line, a saved plan and [Build] read them from here.
// The JSON is part of a saved plan, and of its checksum: new members come last.
type Settings struct {
	// SkipRefresh leaves out every read that only refreshes what the state knows.
	SkipRefresh bool `json:"no_refresh,omitempty"`
	// RefreshAll also makes the reads that refresh one object each, however many they are.
	RefreshAll bool `json:"refresh_all,omitempty"`
	// Targets limits the objects that may be deleted. [Input.Desired] is limited already: it holds the targets and the objects that they need.
	Targets Targets `json:"targets,omitempty"`
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
		{"no-refresh", "trust the state file and do not re-read the objects in it", &sn.SkipRefresh},
		{"refresh-all", "also re-read data that needs one request per object (links, comments, relations), however many", &sn.RefreshAll},
		{"prune", "delete objects that planform created and that are no longer in the manifest", &sn.Prune},
		{
			"delete-changed",
			"with --prune, delete also objects that others changed since the last apply, use, or have something in, such as comments",
			&sn.DeleteChanged,
		},
		{
			"delete-unrecorded",
			"with --prune, delete also objects with the owner's mark that the state does not know: nobody can tell whether they were protected",
			&sn.DeleteUnrecorded,
		},
		{"adopt-by-name", "match existing work items by name", &sn.AdoptByName},
		{
			"mark-adopted",
			"also mark objects that planform only found as the manifest's, so that it finds and prunes them without a state file",
			&sn.MarkAdopted,
		},
		{
			"invite",
			"invite people whose e-mail address is in the manifest and who are not in the workspace; the community edition sends them no mail: tell them yourself",
			&sn.Invite,
		},
		{"new-secrets", "ask for a new secret of each webhook whose secret_file is missing or empty; its present secret stops working", &sn.NewSecrets},
		{
			"take-over",
			"make objects of the manifest that planform made for another owner, or that the state does not know, this manifest's; with --target, the targets and what is in them, nothing else",
			&sn.TakeOver,
		},
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

// MarshalText returns the pattern.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.Pattern), nil }

// UnmarshalText reads a pattern.
func (t *Target) UnmarshalText(pattern []byte) error {
	*t = NewTarget(string(pattern))
	return nil
}
