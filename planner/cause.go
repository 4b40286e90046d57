package planner

// CauseCode classifies a [Cause]. Decisions depend on the code, never on the text.
type CauseCode int

// The codes of causes.
const (
	// NoCause means that nothing prevents the change.
	NoCause CauseCode = iota
	// Refused means that the service refuses the change, that people forbid it, or that it needs an object that is missing.
	Refused
	// Lacks means that this edition of the service does not have the objects in [Cause.Objects].
	Lacks
	// NotOffered means that the API has no such operation or field, and a wider one does.
	NotOffered
	// CannotChange, CannotClear and CannotSet mean that the API has no operation that changes the field of an object that exists,
	// empties it, or sets it on a new object. The text is the verb; causesText makes the sentence.
	CannotChange
	CannotClear
	CannotSet
	// OfOthers means that other people changed an object, use it or have objects in it. It stays unless the run deletes such objects too.
	OfOthers
	// NotAccepted means that the person in [Cause.Objects] has not accepted an invitation to the workspace yet.
	NotAccepted
)

// Cause is the reason why a wish of the manifest is not possible. The zero value means that nothing prevents it.
type Cause struct {
	Code    CauseCode
	Text    string // for people, without a full stop
	Objects string // of Lacks: the objects that the edition does not have, such as customers; of NotAccepted: the person's e-mail address
}

// exists reports whether there is a cause.
func (ca Cause) exists() bool { return ca.Code != NoCause }

// lacksFeature reports whether only a feature of the edition or the API is missing.
func (ca Cause) lacksFeature() bool { return ca.Code == Lacks || ca.Code == NotOffered }

// withPrefix returns the cause with words before its text.
func (ca Cause) withPrefix(words string) Cause {
	ca.Text = words + ca.Text
	return ca
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

// notOffered returns a cause of the code NotOffered if a wider API offers the operation, else of the code Refused.
func notOffered(byWider bool, text string) Cause {
	if byWider {
		return Cause{Code: NotOffered, Text: text}
	}
	return refused(text)
}
