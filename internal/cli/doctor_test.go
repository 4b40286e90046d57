package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

func TestTheDoctorShowsBothEditionsAndWritesNothing(t *testing.T) {
	t.Parallel()
	const wants = "version: 1\nworkspace: acme\ncustomers: [{name: Globex, requests: [{title: X}]}]\n"
	for name, tt := range map[string]struct {
		options sandboxtest.Options
		args    []string
		code    int
		lacks   string // a kind
		says    string
	}{
		"the full edition has all":                       {sandboxtest.Options{}, nil, 0, "", "All is well"},
		"the community edition lacks some":               {sandboxtest.Options{Edition: sandbox.Community}, nil, 0, "customer", "lacks customers"},
		"a manifest can want what the edition lacks":     {sandboxtest.Options{Edition: sandbox.Community}, []string{"-f", "m.yaml"}, 1, "customer", "it uses customers in 2 places, first at "},
		"a manifest can want only what the edition has":  {sandboxtest.Options{}, []string{"-f", "m.yaml"}, 0, "", "2 objects, no errors"},
		"a service can answer as it is documented":       {sandboxtest.Options{Answers: sandbox.Contract}, []string{"--api", "documented"}, 0, "", "only the documented operations"},
		"a limit that is used up is a warning":           {sandboxtest.Options{Rate: 1}, nil, 0, "", "no requests are left"},
		"a wrong key ends with the code for credentials": {sandboxtest.Options{}, []string{"--api-key-file", "key"}, 4, "", "is not accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, tt.options)
			files := map[string]string{"m.yaml": s.write(t, "m.yaml", wants), "key": s.write(t, "key", "plane_api_wr0ng\n")}
			args := []string{"doctor", "--workspace", "acme", "--log-level", "debug", "--state", s.dir + "/x/y.state.json"}
			for _, a := range tt.args {
				if file, ok := files[a]; ok {
					a = file
				}
				args = append(args, a)
			}
			text := s.run(t, args...)
			if text.code != tt.code || !strings.Contains(text.out, tt.says) {
				t.Errorf("exit %d\n%s%s", text.code, text.out, text.err)
			}
			before := len(s.Log())
			program := s.run(t, append(args, "--output", "json")...)
			var got struct {
				Summary     struct{ Problems, Requests int }
				Unsupported []string
				Checks      []struct{ Check, Status, Summary string }
			}
			if err := json.Unmarshal([]byte(program.out), &got); err != nil || program.code != tt.code {
				t.Fatalf("exit %d, %v\n%s", program.code, err, program.out)
			}
			if (got.Summary.Problems > 0) != (tt.code != 0) || strings.Contains(strings.Join(got.Unsupported, " "), "customer") != (tt.lacks != "") || len(got.Checks) == 0 {
				t.Errorf("%+v", got)
			}
			if reads, writes := s.sent(before); writes > 0 || reads != got.Summary.Requests {
				t.Errorf("%d reads, %d writes, and the report says %d", reads, writes, got.Summary.Requests)
			}
			for _, secret := range []string{sandbox.Key, "plane_api_wr0ng"} {
				if all := text.out + text.err + program.out + program.err; strings.Contains(all, secret) {
					t.Errorf("the credential is in the output:\n%s", all)
				}
			}
		})
	}
}
