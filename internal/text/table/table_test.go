package table_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

func TestARowThatDoesNotEndIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("x", 17<<20), "\"" + strings.Repeat("x\n", 9<<20)} {
		if _, _, err := read("Key,Text\na,\"b\nc\"\nd," + text); err == nil || err.Error() != "f.csv:4: the row that begins here is larger than 16 MiB" {
			t.Error(err)
		}
	}
}

func TestAHeaderThatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := read("Key,Text," + strings.Repeat("x", 1<<20) + "\na,b\n"); err == nil || err.Error() != "f.csv:1: the header is larger than 1 MiB" {
		t.Error(err)
	}
}

func known(header []string) bool {
	return slices.Contains(header, "Key") && slices.Contains(header, "Text")
}

// read returns each row as its line and cells.
func read(text string) (rows []string, r *table.Reader, err error) {
	r, err = table.Open(strings.NewReader(text), "f.csv", known)
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, r, nil
		}
		if err != nil {
			return rows, r, err
		}
		var cells []string
		for i := range r.Header {
			cells = append(cells, row.Cell(i))
		}
		rows = append(rows, string(rune('0'+row.Line))+":"+strings.Join(cells, "|"))
	}
}

func TestRowsOfEveryProgramAreRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"commas separate cells":                              {"Key,Text\na,b\n", []string{"2:a|b"}},
		"semicolons separate cells":                          {"Key;Text\r\na,b;c\r\n", []string{"2:a,b|c"}},
		"tabs separate cells":                                {"Key\tText\na\tb", []string{"2:a|b"}},
		"blanks around the names of a header are ignored":    {"Key ,\u00a0Text\na,b\n", []string{"2:a|b"}},
		"each of two columns with one name is read":          {"Key,Text,Text\na,b,c\n", []string{"2:a|b|c"}},
		"a short row is filled with empty cells":             {"Key,Text,X,Y\na,b\nc\n", []string{"2:a|b||", "3:c|||"}},
		"empty lines and empty rows are skipped":             {"Key,Text\n\n,\na,b\n,\n\n", []string{"4:a|b"}},
		"empty cells beyond the header are ignored":          {"Key,Text\na,b,,\n", []string{"2:a|b"}},
		"a cell may hold quotes and line ends":               {"Key,Text\na,\"say \"\"so\"\"\nnow\"\nc,d\n", []string{"2:a|say \"so\"\nnow", "4:c|d"}},
		"carriage returns within a cell become line ends":    {"Key,Text\na,\"b\r\nc\rd\"\n", []string{"2:a|b\nc\nd"}},
		"a carriage return alone ends a line":                {"Key,Text\ra,b\rc,d\r", []string{"2:a|b", "3:c|d"}},
		"a header that is repeated in the middle is skipped": {"Key,Text\na,b\nKey,Text\nc,d\n", []string{"2:a|b", "4:c|d"}},
		"a header alone has no rows":                         {"Key,Text\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := read(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestBrokenTablesAreErrorsWithTheirLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want, hint string }{
		"an empty file is an error":                                   {" \n", "f.csv: the file is empty", "export it again"},
		"a header without the expected columns is an error":           {"a,b\n1,2\n", "f.csv:1: the header has none of the expected columns", ""},
		"a quotation without an end names the row in which it begins": {"Key,Text\na,b\nc,\"d\ne\n", "f.csv:3: a quotation that begins in this row has no end", "cut off"},
		"a quotation mark within a cell is written twice":             {"Key,Text\na,b\nc,d\"e\n", `f.csv:3:4: a quotation mark stands where none may be`, "written twice"},
		"titles above the header count as lines":                      {"sep=,\nA title\nKey,Text\na,b\nc,d\"e\n", `f.csv:5:4: a quotation mark stands where none may be`, "begins on line 5"},
		"a quotation without an end below titles names its row":       {"A title\n\nKey,Text\na,b\nc,\"d\ne\n", "f.csv:5: a quotation that begins in this row has no end", "cut off"},
		"text after a quotation is an error":                          {"Key,Text\na,\"b\" c\nd,e\n", `f.csv:2:`, "written twice"},
		"a row longer than the header is an error":                    {"Key,Text\na,b,c\n", "f.csv:2: the row has 3 cells, the header 2", "a cell that holds ',' stands between quotation marks"},
		"a file may not end within its first row":                     {"Key,Text,X,Y,Z\na,b", "f.csv:2: the file ends within this row, which has 2 of 5 cells", "cut off"},
		"a file may not end within a later row":                       {"Key,Text,X,Y\na,b,c,d\ne,f", "f.csv:3: the file ends within this row, which has 2 of 4 cells", "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%s), want %s", err, diag.HintOf(err), tt.want)
			}
		})
	}
}

func TestSkippedHeadersAndReturnsAreCounted(t *testing.T) {
	t.Parallel()
	_, r, err := read("Key,Text\r\na,\"b\r\nc\"\r\nKey,Text\r\n\r\nd,e\r\n")
	if err != nil || r.Rows != 2 || r.Headers != 1 || r.Returns != 1 {
		t.Errorf("%v: %d rows, %d headers, %d returns", err, r.Rows, r.Headers, r.Returns)
	}
	if got := r.Columns("TEXT"); !slices.Equal(got, []int{1}) {
		t.Error(got)
	}
}
