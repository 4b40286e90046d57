package convert

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// Auto is the name of the format that is found out.
const Auto = "auto"

// choose finds the format of the files, and says by what. A format that was named has to fit them, too.
func choose(name string, formats []Format, files []File) (chosen Format, by string, err error) {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name())
	}
	for _, file := range files {
		head, err := file.head()
		if err != nil {
			return nil, "", err
		}
		var found Format
		var what string
		for _, f := range formats {
			if words, ok := f.Detect(head, file.Name); ok {
				found, what = f, words
				break
			}
		}
		switch {
		case found == nil:
			return nil, "", diag.WithHint(fmt.Errorf("%s:1: it is no export that is known", file.Name), "known are "+strings.Join(names, ", ")+"; planform convert --help says how each is made")
		case name != Auto && found.Name() != name:
			return nil, "", diag.WithHint(fmt.Errorf("%s:1: it is %s, not %s", file.Name, found.Name(), name), "recognised by "+what+"; planform convert "+found.Name()+" reads it")
		case chosen != nil && chosen.Name() != found.Name():
			return nil, "", diag.WithHint(fmt.Errorf("%s is %s, and %s is %s", files[0].Name, chosen.Name(), file.Name, found.Name()), "convert one export at a time")
		}
		chosen, by = found, cmp.Or(by, what)
	}
	return chosen, by, nil
}
