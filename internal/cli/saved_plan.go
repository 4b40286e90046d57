package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// errStale: a saved plan was not carried out, because a new plan differs.
var errStale = errors.New("the plan is stale; nothing was done")

// savedPlan is a plan that was read from a file.
type savedPlan struct {
	*planfile.Document

	name string
}

// readPlan reads the plan that a command line names. It returns nil if the command line names only manifests.
func readPlan(c *cli.Context) (*savedPlan, error) {
	names := slices.DeleteFunc(slices.Clone(c.Args().Slice()), func(name string) bool { return c.Command.ArgsUsage == argsPlan && isManifest(name) })
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // no plan is no error
	}
	if len(names) > 1 {
		return nil, usageError{text: "unexpected argument " + names[1], hint: "one plan at a time"}
	}
	name := names[0]
	text, err := readAtMost(name, largestPlan)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure{diag.WithHint(fmt.Errorf("there is no plan %s, and no folder of that name", name), "planform plan FILE --out "+name+" writes one"), errNotFound}
	case err != nil:
		return nil, err
	}
	d, err := planfile.Parse(name, text)
	if err != nil {
		return nil, err
	}
	return &savedPlan{d, name}, nil
}

// The largest sizes of files in bytes.
const (
	largestPlan   = 256 << 20
	largestSecret = 64 << 10
)

// readAtMost reads a file, and returns an error if the file has more than largest bytes.
func readAtMost(name string, largest int64) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && int64(len(text)) > largest {
		err = fmt.Errorf("%s is too large: it has more than %d KiB", name, largest>>10)
	}
	return text, err
}

// options returns the options for an apply of the plan. If the command line names manifests, the plan must have been made with the same
// options, because people who may write a plan need not be people who may review it.
func (sp *savedPlan) options(c *cli.Context, p Process) (o planOptions, err error) {
	if c.Bool("dry-run") {
		return o, usageError{text: "--dry-run cannot be combined with the plan " + sp.name, hint: "planform show " + sp.name + " shows it"}
	}
	if len(namedManifests(c)) > 0 {
		if o, err = newPlanOptions(c, p); err == nil {
			err = sp.isOf(o.Options)
		}
	} else {
		o, err = sp.ownOptions(c, p)
	}
	if err == nil && sp.Sandbox && !o.service.sandbox && o.service.baseURL == "" {
		err = usageError{text: "the plan " + sp.name + " is for the sandbox", hint: "planform apply " + sp.name + " --sandbox carries it out"}
	}
	for i := range sp.Steps {
		o.known = append(o.known, sp.Steps[i].Address)
	}
	return o, err
}

// ownOptions returns the options that the plan was made with, and refuses flags that would change them.
func (sp *savedPlan) ownOptions(c *cli.Context, p Process) (o planOptions, err error) {
	for _, f := range slices.Concat(shapingFlags(), manifestFlags(), []cli.Flag{&cli.StringFlag{Name: "api"}}) {
		if name := f.Names()[0]; c.IsSet(name) {
			return o, usageError{
				text: fmt.Sprintf("--%s cannot be combined with the plan %s", name, sp.name),
				hint: "leave it out: the plan has its own files and flags; see planform show " + sp.name,
			}
		}
	}
	for _, name := range sp.Options.Files {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return o, diag.WithHint(fmt.Errorf("the plan %s was made from %s, which does not exist here", sp.name, name),
				"run apply in the folder where the plan was made")
		}
	}
	options := sp.Options
	options.State = cmp.Or(statePlace(c, p), options.State)
	o, err = o.with(options, c, p)
	o.service.api = options.API
	return o, err
}

// isOf returns an error if the plan was made with other options. The place of the state does not count, because nobody reviews it.
func (sp *savedPlan) isOf(wanted planfile.Options) error {
	made := sp.Options
	made.State, wanted.State = "", ""
	was, is := strings.Join(planFlagsOf(made), " "), strings.Join(planFlagsOf(wanted), " ")
	if was == is && len(made.Undo) == 0 {
		return nil
	}
	if len(made.Undo) > 0 {
		was = commandOf(made)
	}
	return diag.WithHint(fmt.Errorf("the plan %s was made with %s, not with %s; nothing was done", sp.name, was, is),
		"make a plan with these flags and review it: "+commandOf(wanted)+" "+is+" --out "+sp.name)
}

// isFor returns an error if the plan is for another service or workspace than the connection. The address of the service never comes from
// the plan, because the author of a plan would get the credential.
func (sp *savedPlan) isFor(conn *connection) error {
	here := planfile.Where{Service: conn.baseURL, Workspace: conn.workspace, Sandbox: conn.sandbox}
	if sp.Sandbox == (conn.sandbox != "") && (sp.Sandbox || state.SameServer(sp.BaseURL, conn.baseURL)) && sp.Workspace == conn.workspace {
		return nil
	}
	hint := "give the plan's service and workspace with PLANE_BASE_URL and --workspace"
	if sp.Sandbox != (conn.sandbox != "") {
		hint = "give --sandbox for a plan of the sandbox only"
	}
	return usageError{text: fmt.Sprintf("the plan %s is for %s, but this command uses %s", sp.name, sp.Where(), here), hint: hint}
}

// check returns an error if the plan is stale: now is a new plan, and differs from the remaining steps of the saved one.
func (sp *savedPlan) check(now *planfile.Document, file *state.File, service []string, out output) error {
	var earlier *planfile.Run
	if last := file.Plan(); last != nil && last.Hash == sp.Hash {
		earlier = &planfile.Run{Since: last.Since, Prior: file.Prior()}
	}
	if found := sp.Stale(now, earlier); len(found) > 0 {
		out.view.Diagnostics(found)
		return diag.WithHint(errStale, fmt.Sprintf("make a new plan and review it: %s %s --out %s", commandOf(sp.Options),
			strings.Join(append(planFlagsOf(sp.Options), service...), " "), sp.name))
	}
	if earlier != nil {
		out.view.Notef("an earlier run of this plan began at %s; of %s, %d are left",
			earlier.Since.Format("2006-01-02 15:04 UTC"), diag.Count(len(sp.Steps), "step"), len(now.Steps))
	}
	if changed := sp.ChangedManifests(now); len(changed) > 0 {
		out.view.Notef("changed since the plan was made, without effect on the plan: %s", strings.Join(changed, ", "))
	}
	return nil
}

// commandOf returns the command that makes a plan with these options, without the flags.
func commandOf(o planfile.Options) string {
	if len(o.Undo) > 0 {
		return "planform undo " + strings.Join(o.Undo, " ")
	}
	return "planform plan"
}

// planFlagsOf returns the flags for the options, without flags that have their default value.
func planFlagsOf(o planfile.Options) []string {
	undo := len(o.Undo) > 0 // an undo always has some of the options
	var flags []string
	add := func(flag string, values ...string) {
		for _, value := range values {
			flags = append(flags, flag, shellWord(value))
		}
	}
	one := func(flag, value, standard string) {
		if value != "" && value != standard {
			add(flag, value)
		}
	}
	add("-f", o.Files...)
	add("--var", o.Variables...)
	one("--state", o.State, "")
	one("--api", o.API, "auto")
	for _, s := range o.Switches() {
		if *s.On && !(undo && s.On == &o.Prune) {
			flags = append(flags, "--"+s.Flag)
		}
	}
	add("--target", o.Targets.Patterns()...)
	add("--no-create", o.NoCreate...)
	if !undo {
		one("--on-drift", string(o.OnDrift), string(planner.Overwrite))
	}
	one("--order", o.Order, "")
	return flags
}

// shellWord returns a text in the form that a shell reads as one word.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plain holds the characters that a shell never interprets.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-"

// hash returns the hash of the plan, or "" without a saved plan.
func (sp *savedPlan) hash() string {
	if sp == nil {
		return ""
	}
	return sp.Hash
}

var hashForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// checkExpected returns an error if the hash of a plan is not the value of --expect.
func checkExpected(c *cli.Context, hash string) error {
	switch want := c.String("expect"); {
	case want == "" && !c.IsSet("expect"), want == hash:
		return nil
	case !hashForm.MatchString(want):
		return usageError{text: fmt.Sprintf("--expect %q is not the hash of a plan", want), hint: "planform plan prints the hash: sha256: and 64 digits"}
	case hash == "":
		return nil // there is no plan yet
	default:
		return diag.WithHint(fmt.Errorf("the plan has the hash %s, not %s as expected; nothing was done", hash, want),
			"review the new plan, and give its hash with --expect")
	}
}

// basis returns the version of the state, and digests of the files and variables that a plan is made from.
func basis(desired *manifest.Manifest, prior *state.Snapshot) planfile.Basis {
	b := planfile.Basis{Digests: map[string]string{}, Lineage: prior.Lineage, Serial: prior.Serial}
	for name, value := range desired.Environment {
		b.Digests[name] = planfile.Digest([]byte(value))
	}
	for _, name := range slices.Concat(desired.Files, desired.Tables) {
		if readOnce(name) {
			continue
		}
		if text, err := os.ReadFile(name); err == nil { //nolint:gosec // it was read before
			b.Digests[name] = planfile.Digest(text)
		}
	}
	return b
}

// checkOut returns an error if a plan cannot be saved where the user wants it.
func (po planOptions) checkOut(desired *manifest.Manifest) error {
	if po.out == "" {
		return nil
	}
	for _, name := range desired.Files {
		if readOnce(name) {
			return usageError{
				text: "--out needs manifests that apply can read again, and standard input is read once",
				hint: "write the manifest to a file",
			}
		}
		if filepath.Clean(name) == filepath.Clean(po.out) {
			return usageError{text: "--out " + po.out + " is a manifest of this plan", hint: "--out plan.json"}
		}
	}
	if info, err := os.Stat(po.out); err == nil && !info.Mode().IsRegular() {
		return usageError{text: "--out " + po.out + " is not a file", hint: "--out plan.json"}
	}
	return nil
}

// savePlan writes a plan completely or not at all. Only its owner can read the file.
func savePlan(on disk.Disk, name string, d *planfile.Document) error {
	err := disk.Write(on, name, func(w io.Writer) error { return view.WritePlan(w, d) })
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the plan cannot be saved: there is no folder %s", filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("the plan cannot be saved: %w", err)
	}
	return nil
}
