package apiclient

import "time"

// learn draws from a refusal how long the window is: the service says that the
// oldest request which it counts leaves the window when the pause is over.
// Pauses are whole seconds, rounded up.
func (l *limiter) learn(sent time.Time, pause time.Duration) {
	end := sent.Add(pause)
	fits := func(e entry, window time.Duration) bool {
		d := end.Sub(e.sent)
		return d >= window-slack && d < window+time.Second+slack
	}
	l.guess, l.trial = 0, nil
	if l.confirmed && l.aged < len(l.log) && fits(l.log[l.aged], l.window) {
		return
	}
	l.confirmed = false
	for i, e := range l.log {
		if counted := len(l.log) - i; fits(e, usualWindow) && (!l.announce || 5*counted <= 11*(l.largest+1)) {
			l.window, l.confirmed = usualWindow, true
			return
		}
	}
	for i, e := range l.log[l.aged:] {
		if e.sent.Before(l.resumed) {
			continue // counted before the last pause, which told about it
		}
		l.guess = max(time.Second, (end.Sub(e.sent) + slack/2).Truncate(time.Second))
		l.trial = append([]entry(nil), l.log[l.aged+i:]...)
		break
	}
	if l.guess > 0 && !l.announce {
		// Nothing will prove it; should it be wrong, the next refusal corrects it.
		l.window, l.confirmed = l.guess, true
	}
}

// prove holds the guess against the first answer after a pause: as many places
// should be free as requests have left the window.
func (l *limiter) prove(s *slot, left int) {
	if l.guess == 0 {
		return
	}
	surely, maybe := 0, 0
	for _, e := range l.trial {
		if s.sent.Sub(e.answered) >= l.guess {
			surely++
		}
		if s.sent.Sub(e.sent)+slack >= l.guess {
			maybe++
		}
	}
	found, tolerance := left+1, 1+len(l.trial)/20
	if found >= surely-tolerance && found <= maybe+tolerance && maybe > 0 {
		l.window, l.confirmed = l.guess, true
	}
	l.guess, l.trial = 0, nil
}

// deduce draws the window's length from a row of refusals that did not tell when
// it would be over: between the last of them and the first request that was let
// through, the oldest counted one left the window.
func (l *limiter) deduce(sent time.Time) {
	if l.oldest.IsZero() {
		return
	}
	least, most := l.refusedAt.Sub(l.oldest), sent.Sub(l.oldest)
	l.window, l.confirmed, l.oldest = most, true, time.Time{}
	if least < usualWindow && usualWindow <= most {
		l.window = usualWindow
	}
}
