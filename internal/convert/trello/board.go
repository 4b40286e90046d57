package trello

import (
	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
)

// board is what one export holds.
type board struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Desc      string `json:"desc"`
	ShortLink string `json:"shortLink"`
	IDShort   int    `json:"idShort"` // of a card: such an export is no board

	cards      []*card
	keys       map[string]string // of the cards, by their short links
	lists      map[string]list
	labels     []label
	members    []member
	checklists []checklist
	fields     map[string]customField
	actions    int
}

type card struct {
	key    string // which it gets on its board
	number int

	ID           string       `json:"id"`
	IDShort      int          `json:"idShort"`
	ShortLink    string       `json:"shortLink"`
	ShortURL     string       `json:"shortUrl"`
	Name         string       `json:"name"`
	Desc         string       `json:"desc"`
	Pos          float64      `json:"pos"`
	IDList       string       `json:"idList"`
	IDLabels     []string     `json:"idLabels"`
	IDMembers    []string     `json:"idMembers"`
	Start        string       `json:"start"`
	Due          string       `json:"due"`
	DueComplete  bool         `json:"dueComplete"`
	Closed       bool         `json:"closed"`
	IsTemplate   bool         `json:"isTemplate"`
	Role         string       `json:"cardRole"`
	LastActivity string       `json:"dateLastActivity"`
	Attachments  []attachment `json:"attachments"`
	Fields       []struct {
		ID      string         `json:"idCustomField"`
		IDValue string         `json:"idValue"`
		Value   map[string]any `json:"value"`
	} `json:"customFieldItems"`
	Badges struct {
		Comments int `json:"comments"`
		Votes    int `json:"votes"`
	} `json:"badges"`

	at     diag.Position
	values convert.Issue // what it held, and what of that nothing takes
}

type attachment struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Bytes    int64  `json:"bytes"`
	IsUpload bool   `json:"isUpload"`
}

type list struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Closed bool   `json:"closed"`
}

type label struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
}

type member struct {
	ID       string `json:"id"`
	FullName string `json:"fullName"`
	Username string `json:"username"`
}

type checklist struct {
	IDCard string  `json:"idCard"`
	Name   string  `json:"name"`
	Pos    float64 `json:"pos"`
	Items  []task  `json:"checkItems"`
}

type task struct {
	Name     string  `json:"name"`
	State    string  `json:"state"`
	Pos      float64 `json:"pos"`
	Due      string  `json:"due"`
	IDMember string  `json:"idMember"`
}

type customField struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Options []struct {
		ID    string `json:"id"`
		Value struct {
			Text string `json:"text"`
		} `json:"value"`
	} `json:"options"`
}

type action struct {
	ID              string  `json:"id"`
	Type            string  `json:"type"`
	Date            string  `json:"date"`
	IDMemberCreator string  `json:"idMemberCreator"`
	MemberCreator   *member `json:"memberCreator"`
	Data            *struct {
		Text string `json:"text"`
		Card struct {
			ID string `json:"id"`
		} `json:"card"`
	} `json:"data"`
}

// colors are those of labels, which have a light and a dark form.
func colors() map[string]string {
	return map[string]string{
		"green": "4bce97", "green_light": "baf3db", "green_dark": "1f845a",
		"yellow": "f5cd47", "yellow_light": "f8e6a0", "yellow_dark": "946f00",
		"orange": "fea362", "orange_light": "fedec8", "orange_dark": "c25100",
		"red": "f87168", "red_light": "ffd5d2", "red_dark": "c9372c",
		"purple": "9f8fef", "purple_light": "dfd8fd", "purple_dark": "6e5dc6",
		"blue": "579dff", "blue_light": "cce0ff", "blue_dark": "0c66e4",
		"sky": "6cc3e0", "sky_light": "c6edfb", "sky_dark": "227d9b",
		"lime": "94c748", "lime_light": "d3f1a7", "lime_dark": "5b7f24",
		"pink": "e774bb", "pink_light": "fdd0ec", "pink_dark": "ae4787",
		"black": "8590a2", "black_light": "dcdfe4", "black_dark": "626f86",
	}
}
