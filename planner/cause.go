package planner

// CauseCode classifies a [Cause]. Code decides by it; no code compares texts.
type CauseCode int

// The codes of causes.
const (
	// NoCause means that nothing is in the way.
	NoCause CauseCode = iota
	// Refused covers what the service refuses, people forbid, or an object that is missing prevents.
	Refused
	// Lacks means that this edition of the service does not have the objects in [Cause.Objects].
	Lacks
	// NotOffered means that the API has no such operation or field, and a wider one does.
	NotOffered
	// CannotChange, CannotClear and CannotSet mean that the API has no operation that changes the field of an object that exists,
	// empties it, or sets it on a new object. The text is the verb; [fieldDiff.words] makes the sentence.
	CannotChange
	CannotClear
	CannotSet
	// OfOthers means that other people changed an object, use it or have something in it, so that it stays unless the run deletes such
	// objects, too.
	OfOthers
	// NotAccepted means that the person in [Cause.Objects] has not accepted an invitation to the workspace yet.
	NotAccepted
	// Swapped means that two objects exchange a value that the service takes once.
	Swapped
)

// Cause says why something that the manifest wants is not possible. The zero value means that nothing is in the way.
type Cause struct {
	Code    CauseCode
	Text    string // for people, without a full stop
	Objects string // of Lacks: what the edition does not have, such as customers; of NotAccepted: the e-mail address of the person
}

// exists reports whether something is in the way.
func (c Cause) exists() bool { return c.Code != NoCause }

// lacking reports whether the edition, or the API, is the only thing in the way.
func (c Cause) lacking() bool { return c.Code == Lacks || c.Code == NotOffered }

// after returns the cause with words before its text.
func (c Cause) after(words string) Cause {
	c.Text = words + c.Text
	return c
}

// refused returns a cause of the code Refused, or none for an empty text.
func refused(text string) Cause {
	if text == "" {
		return Cause{}
	}
	return Cause{Code: Refused, Text: text}
}

// ofOthers returns a cause of the code OfOthers.
func ofOthers(text string) Cause { return Cause{Code: OfOthers, Text: text} }

// lacks returns the cause that this edition of the service does not have objects, such as "customers".
func lacks(objects string) Cause {
	return Cause{Lacks, "this edition of the service has no " + objects, objects}
}

// cannot returns the cause of one of the codes CannotChange, CannotClear and CannotSet.
func cannot(code CauseCode) Cause {
	return Cause{Code: code, Text: map[CauseCode]string{CannotChange: "change", CannotClear: "clear", CannotSet: "set"}[code]}
}

// notOffered returns a cause of the code NotOffered if a wider API would do, else Refused.
func notOffered(byWider bool, text string) Cause {
	if byWider {
		return Cause{Code: NotOffered, Text: text}
	}
	return refused(text)
}
