package encoded

import (
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/planform/planform/internal/text/diag"
)

// wide writes a text as UTF-16.
func wide(text string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b.WriteString(string([]byte{byte(u >> 8), byte(u)}))
		} else {
			b.WriteString(string([]byte{byte(u), byte(u >> 8)}))
		}
	}
	return b.String()
}

func TestTextsOfAllEncodingsAreRead(t *testing.T) {
	t.Parallel()
	const text = "Größe – 1 €\n🎉"
	for name, tt := range map[string]struct{ bytes, encoding, want string }{
		"UTF-8":                              {text, "", text},
		"UTF-8 with a mark":                  {"\xEF\xBB\xBF" + text, "", text},
		"UTF-16 with a mark":                 {wide("\uFEFF"+text, false), "", text},
		"UTF-16, big end first":              {wide("\uFEFF"+text, true), "", text},
		"UTF-16 without a mark":              {wide(text, false), "", text},
		"UTF-16, big, without a mark":        {wide(text, true), "", text},
		"Windows-1252":                       {"Gr\xf6\xdfe \x96 1 \x80", "windows-1252", "Größe – 1 €"},
		"a mark counts more than what named": {"\xEF\xBB\xBF" + text, "windows-1252", text},
		"Windows-1251":                       {"\xcf\xf0\xee\xe5\xea\xf2", "windows-1251", "Проект"},
		"Windows-1250":                       {"zg\xb3oszenie \x9cl\xb9sk", "windows-1250", "zgłoszenie śląsk"},
		"ISO-8859-2":                         {"zg\xb3oszenie \xb6l\xb1sk", "iso-8859-2", "zgłoszenie śląsk"},
		"Shift-JIS":                          {"\x83v\x83\x8d\x83W\x83F\x83N\x83g", "shift-jis", "プロジェクト"},
		"EUC-KR":                             {"\xc7\xc1\xb7\xce\xc1\xa7\xc6\xae", "euc-kr", "프로젝트"},
		"the extension of EUC-KR":            {"\x8cc\xb9\xe6", "euc-kr", "똠방"},
		"GB18030":                            {"\xcf\xee\xc4\xbf", "gb18030", "项目"},
		"nothing":                            {"", "", ""},
		"the character that stands for none": {"a\uFFFDb", "", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := io.ReadAll(Reader(strings.NewReader(tt.bytes), "f", tt.encoding))
			if err != nil || string(got) != tt.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestTheEncodingIsGuessedByTheLettersOfALanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Größe ändern, möglichst früh": "windows-1252", "Créer un élève à l'école": "windows-1252", "Año de la señora": "windows-1252",
		"Zgłoszenie błędu: nie działa wyszukiwanie, źle wyświetla się ść": "windows-1250",
		"Příliš žluťoučký kůň úpěl ďábelské ódy":                          "windows-1250", "Ошибка в проекте: не работает поиск": "windows-1251",
		"Überprüfung, naïve, café – “zitiert”": "windows-1252", "José und Zoë": "windows-1252",
		"プロジェクトの計画を確認する": "shift-jis", "项目计划需要确认，请尽快完成": "gb18030",
		"프로젝트 계획을 확인해 주세요": "euc-kr", "로그인 화면이 열리지 않음, 빨리": "euc-kr", "标题": "gb18030",
	} {
		written, err := tables()[want].NewEncoder().String("Key,Title\nA-1," + text + "\n")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(Reader(strings.NewReader(written), "f", ""))
		if hint := diag.HintOf(err); !strings.Contains(hint, "--encoding "+want) {
			t.Errorf("%s: %s", text, hint)
		}
	}
	polish, err := tables()["iso-8859-2"].NewEncoder().String("Zgłoszenie błędu: nie działa, źle wyświetla się ść, ąę")
	_, err2 := io.ReadAll(Reader(strings.NewReader(polish), "f", ""))
	if hint := diag.HintOf(err2); err != nil || !strings.Contains(hint, "iso-8859-2") {
		t.Error(err, hint)
	}
}

func TestTextOfAnEncodingThatIsNotTakenIsCalledNoOther(t *testing.T) {
	t.Parallel()
	for name, bytes := range map[string]string{
		"KOI8-R": "Key,Title\nA-1,\xf0\xd2\xcf\xc5\xcb\xd4 \xce\xc5 \xcf\xd4\xcb\xd2\xd9\xd7\xc1\xc5\xd4\xd3\xd1\n",
		"Big5":   "Key,Title\nA-1,\xc1c\xc5\xe9\xa4\xa4\xa4\xe5\xbc\xd0\xc3D,\xb6}\xb1\xd2\n",
	} {
		_, err := io.ReadAll(Reader(strings.NewReader(bytes), "f", ""))
		if hint := diag.HintOf(err); !strings.Contains(hint, "iconv") {
			t.Errorf("%s: %s", name, hint)
		}
	}
}

func TestWhatIsNoTextIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ bytes, want string }{
		"a byte of another encoding names its place":           {"a\nb\xf6c", "f:2:2: the byte 0xF6 is not UTF-8"},
		"a binary file names its first byte that is not UTF-8": {"\x89PNG\x00", "f:1:1: the byte 0x89 is not UTF-8"},
		"a NUL byte names its place":                           {"ab\ncd\x00", "f:2:3: it holds NUL bytes"},
		"a file may not end within a character of UTF-16":      {wide("\uFEFFab", false) + "c", "f:1:2: the file ends within a character"},
		"half a character of UTF-16 names its place":           {"\xFF\xFE\x00\xD8a\x00", "f:1:1: half a character of UTF-16"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := io.ReadAll(Reader(strings.NewReader(tt.bytes), "f", ""))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
