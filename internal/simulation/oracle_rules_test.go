package simulation

import (
	"regexp"
	"slices"
	"strings"
)

// onPurpose is a difference to the older build on purpose.
type onPurpose struct {
	why string
	// tells matches the difference itself, and with the other lines that differ at the same address and stage.
	tells, with *regexp.Regexp
}

// onPurposes returns the differences on purpose to the build of November 2026 before the settings were one struct. A rule that explains no case fails the test.
func onPurposes() []onPurpose {
	of := func(why, tells, with string) onPurpose {
		return onPurpose{why, regexp.MustCompile(tells), regexp.MustCompile(with)}
	}
	return []onPurpose{
		of(
			"Several records with the mark of one object are a step that is not possible, in each plan that reads the list.",
			`^plan \+ not_possible .*\t\d+ .* carry the mark of `, `^$`,
		),
		of(
			"A work item that people changed is not pruned, whichever field they changed.",
			`^plan \+ not_possible work_item/.*\tit would be deleted, but somebody changed its `, `^plan - delete work_item/`,
		),
		of(
			"A person whom the service left out of the assignees is assigned when they become a member of the project.",
			`^plan - not_possible work_item/\S+ assignees: .*\tthe service did not take `, `^plan [-+] (not_possible|update) work_item/`,
		),
		of(
			"A member that an export only found protects its container from --prune.",
			`^plan \+ not_possible .*\tit would be deleted, but .* added by others (is|are) in it`, `^plan - delete `,
		),
		of(
			"A plan says of a member that people changed the membership, and what the member leaves.",
			`^plan \+ (add|remove)_members .* leaves=\S* drift=`, `^plan - (add|remove)_members `,
		),
		of(
			"A membership that people changed is kept if drift is kept.",
			`^plan \+ kept .* (cycle|modules?|milestone|members|projects): .* drift `, `^plan - (add|remove)_members `,
		),
		of(
			"The state knows a membership that it only found, and that an object is to be in no container.",
			`^state \+ .*("found":\[|"(cycle|module|milestone)":"")`, `^state - `,
		),
		of(
			"A rename is not guessed by neighbours or equal fields.",
			`^plan - orphan \S+ renamed to \w+/`, `^plan \+ orphan `,
		),
		of(
			"A new project has its intake switched on by an update after its create.",
			`^plan \+ update project/\S+ intake_view: `, `^plan [-+] (create|update) project/`,
		),
		of(
			"What the state knows of a text is what the last request about it sent.",
			`^state - .*"description shown":"sha256`, `^state \+ `,
		),
	}
}

var (
	anAddress = regexp.MustCompile(`[a-z_]+/[^\s",}]+`)
	ofPlan    = regexp.MustCompile(`^plan . [^e]|^plan . error`) // but for its exit code
)

// explain returns the rules that explain differences, and the differences that no rule explains. The lines of one stage and address are
// explained together. If all differences of the first plan are explained, they explain how it ends.
func explain(differences []string) (why, rest []string) {
	at := func(line string) string {
		stage, _, _ := strings.Cut(line, " ")
		return stage + anAddress.FindString(line)
	}
	differs := false
	for _, line := range differences {
		var group []string
		for _, other := range differences {
			if at(other) == at(line) {
				group = append(group, other)
			}
		}
		i := slices.IndexFunc(onPurposes(), func(r onPurpose) bool {
			return slices.ContainsFunc(group, r.tells.MatchString) &&
				!slices.ContainsFunc(group, func(l string) bool { return !r.tells.MatchString(l) && !r.with.MatchString(l) })
		})
		if i < 0 {
			rest = append(rest, line)
		} else if why = append(why, onPurposes()[i].why); strings.HasPrefix(line, "plan ") {
			differs = true
		}
	}
	if differs && !slices.ContainsFunc(rest, func(line string) bool { return ofPlan.MatchString(line) }) {
		rest = nil
	}
	slices.Sort(why)
	return slices.Compact(why), rest
}
