package sandbox

import "testing"

// What a Python 3.12 says of each, which is what the service runs on.
func TestWhatIsWrongWithJSONIsSaidInTheWordsOfTheService(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                    "Expecting value: line 1 column 1 (char 0)",
		" ":                   "Expecting value: line 1 column 2 (char 1)",
		"{":                   "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
		"{\"a\":":             "Expecting value: line 1 column 6 (char 5)",
		"\ufeff{}":            "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
		"{\"a\":NaN}":         "Out of range float values are not JSON compliant: 'NaN'",
		"[-Infinity":          "Out of range float values are not JSON compliant: '-Infinity'",
		"{} {}":               "Extra data: line 1 column 4 (char 3)",
		"a=b":                 "Expecting value: line 1 column 1 (char 0)",
		"nul":                 "Expecting value: line 1 column 1 (char 0)",
		"[1,]":                "Expecting value: line 1 column 4 (char 3)",
		"{\"a\":1,}":          "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)",
		"{\"a\" 1}":           "Expecting ':' delimiter: line 1 column 6 (char 5)",
		"{\"a\":1 \"b\"":      "Expecting ',' delimiter: line 1 column 8 (char 7)",
		"[1 2]":               "Expecting ',' delimiter: line 1 column 4 (char 3)",
		"\"a":                 "Unterminated string starting at: line 1 column 1 (char 0)",
		"\"a\\":               "Unterminated string starting at: line 1 column 1 (char 0)",
		"\"\\x\"":             "Invalid \\escape: line 1 column 2 (char 1)",
		"\"\\u12\"":           "Invalid \\uXXXX escape: line 1 column 3 (char 2)",
		"\"\\u12g4\"":         "Invalid \\uXXXX escape: line 1 column 3 (char 2)",
		"\"\t\"":              "Invalid control character at: line 1 column 2 (char 1)",
		"01":                  "Extra data: line 1 column 2 (char 1)",
		"-":                   "Expecting value: line 1 column 1 (char 0)",
		"1.":                  "Extra data: line 1 column 2 (char 1)",
		"{'a':1}":             "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
		"{\n  \"ä\": 1,\n  b": "Expecting property name enclosed in double quotes: line 3 column 3 (char 14)",
		"[\"ä\" x":            "Expecting ',' delimiter: line 1 column 6 (char 5)",
		"\"\\u\"":             "Invalid \\uXXXX escape: line 1 column 3 (char 2)",
		"[":                   "Expecting value: line 1 column 2 (char 1)",
		"{\"a\":1":            "Expecting ',' delimiter: line 1 column 7 (char 6)",
		"[\"\xff\"]":          "'utf-8' codec can't decode byte 0xff in position 2: invalid start byte",
		"{} }":                "Extra data: line 1 column 4 (char 3)",
	} {
		if _, err := decodeJSON([]byte(body)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
}
