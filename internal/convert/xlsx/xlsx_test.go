package xlsx_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert/xlsx"
	"github.com/planform/planform/internal/text/diag"
)

// workbook is one of these parts.
func workbook(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range parts {
		file, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = file.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAFormulaWithoutAValueIsNoEmptyCell: programs write such workbooks, and what the cell shows is known to spreadsheets only.
func TestAFormulaWithoutAValueIsNoEmptyCell(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		`<c r="C2"><f>IF(1,"Open","Done")</f></c>`:                    "book.xlsx: xl/worksheets/sheet1.xml:1: the cell C2: it has a formula, and no value of it",
		`<c r="C2" t="str"><f>IF(1,"Open","Done")</f><v>Open</v></c>`: "",
		`<c r="C2" t="str"><f>IF(1,"","Done")</f><v></v></c>`:         "",
	} {
		_, err := xlsx.Read(workbook(t, map[string]string{
			"xl/workbook.xml":            `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
			"xl/worksheets/sheet1.xml":   `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>Key</v></c></row><row r="2"><c r="A2"><v>1</v></c>` + cell + `</row></sheetData></worksheet>`,
			"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		}), "book.xlsx")
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && !strings.Contains(diag.HintOf(err), "save it") {
			t.Errorf("%s: %q, %s", cell, got, diag.HintOf(err))
		}
	}
}

func TestAWorkbookWithoutVisibleCellsIsRefused(t *testing.T) {
	t.Parallel()
	for name, sheets := range map[string]string{
		"the visible sheet is empty": `<sheet name="S" r:id="rId1"/>`,
		"all sheets are hidden":      `<sheet name="S" state="hidden" r:id="rId1"/>`,
		"there is no sheet":          ``,
	} {
		_, err := xlsx.Read(workbook(t, map[string]string{
			"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets>` + sheets + `</sheets></workbook>`,
			"xl/worksheets/sheet1.xml":   `<worksheet><sheetData/></worksheet>`,
			"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		}), "book.xlsx")
		if err == nil || err.Error() != "book.xlsx: no visible sheet of the workbook has cells" || !strings.Contains(diag.HintOf(err), "show the sheet") {
			t.Errorf("%s: %v, %s", name, err, diag.HintOf(err))
		}
	}
}

func TestTimesAndDurationsAreNoDates(t *testing.T) {
	t.Parallel()
	sheets, err := xlsx.Read(workbook(t, map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/><numFmt numFmtId="165" formatCode="mmm"/></numFmts>
			<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData><row><c><v>1.5</v></c><c s="1"><v>1.5</v></c><c s="2"><v>0.5</v></c><c s="3"><v>45366</v></c><c s="4"><v>45366.75</v></c></row></sheetData></worksheet>`,
	}), "book.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(sheets[0].Text); got != "1.5,36:00:00,12:00:00,2024-03-15,2024-03-15 18:00:00\n" {
		t.Error(got)
	}
}

// FuzzRead: whatever the parts of a workbook hold, it is refused, or read as a table each of whose lines belongs to a row.
func FuzzRead(f *testing.F) {
	const sheets = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`
	f.Add(sheets, `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row><row r="3"><c r="XFD3"><v>4.5</v></c></row></sheetData></worksheet>`,
		`<sst><si><t>a</t></si></sst>`, `<styleSheet/>`)
	f.Add(sheets, `<worksheet><sheetData><row r="1" hidden="1"><c r="A1" t="d"><v>2024-01-02</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c s="1"><v>45000.5</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B2"/></mergeCells></worksheet>`,
		`<sst><si><r><t>a</t></r><r><t>"b"&#10;c</t></r></si></sst>`, `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`)
	f.Fuzz(func(t *testing.T, book, sheet, texts, styles string) {
		data := workbook(t, map[string]string{
			"xl/workbook.xml": book, "xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": texts, "xl/styles.xml": styles,
			"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		})
		sheets, err := xlsx.Read(data, "book.xlsx")
		if err != nil {
			return
		}
		read := sheets[0]
		rows, open := csv.NewReader(bytes.NewReader(read.Text)), read.Open()
		rows.FieldsPerRecord = -1
		numbered, ok := open.(interface{ Row(line int) int })
		if !ok {
			t.Fatal("its rows have no numbers")
		}
		for before := 0; ; {
			_, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", read.Text, err)
			}
			line, _ := rows.FieldPos(0)
			row := numbered.Row(line)
			if row <= before {
				t.Fatalf("line %d of %q is row %d, behind row %d", line, read.Text, row, before)
			}
			before = row
		}
	})
}

func TestWhatASheetHoldsBesideItsCellsIsNamed(t *testing.T) {
	t.Parallel()
	for comments, want := range map[string]string{
		`<comments><commentList><comment ref="A1"><text><t>a</t></text></comment><comment ref="A2"/></commentList></comments>`: "notes on cells are not read: 2",
		`<comments><commentList>`: "notes on cells cannot be read",
	} {
		sheets, err := xlsx.Read(workbook(t, map[string]string{
			"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
			"xl/worksheets/sheet1.xml":   `<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>Key</v></c><c r="B1" t="e"><v>#REF!</v></c></row></sheetData><drawing r:id="rId2"/></worksheet>`,
			"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
			"xl/comments1.xml":           comments,
		}), "book.xlsx")
		if err != nil || sheets[0].Remark != "cells with an error, such as #REF!, are empty: 1; pictures and charts are not read: 1; "+want {
			t.Errorf("%+v %v", sheets, err)
		}
	}
}
