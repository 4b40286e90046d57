package sandbox

import "net/http"

// describeWebhooks adds the kinds of the webhooks of the workspace.
func (ks *kinds) describeWebhooks() {
	ks.webhook = ks.add(&kind{
		name: "webhook", columns: audit("name url scopes is_active content_type version created_by updated_by workspace"),
		hidden: names("secret"),
		fields: bodyFields("name=text? is_active=on",
			field{name: "url", required: true, check: str(1024, false)},
			field{name: "scopes", check: words, initial: []any{}},
			field{name: "content_type", check: choice("application/json", "application/x-www-form-urlencoded"), initial: "application/json"},
			field{name: "version", check: str(10, false), initial: "v1"},
		),
		param: "webhook",
	})
}

// webhooksV2 describes the webhooks of the workspace. Only the answers to a creation and to a regeneration show the secret.
func (s *Server) webhooksV2() *resourceV2 {
	res := &resourceV2{
		name: "webhook", path: v2Workspace + "webhooks/", kind: s.kinds.webhook, verbs: v2Singles,
		write: "name? url* scopes is_active content_type version", read: "created_by_id", order: "created_at id",
		secret: func(t *tx, id string) (string, any) {
			hook, _ := t.get(s.kinds.webhook, id)
			hook.row["secret"] = "plane_wh_" + newID()
			t.save(s.kinds.webhook, hook)
			return "secret_key", hook.row["secret"]
		},
	}
	res.more = map[string]methods{"{pk}/regenerate/": {http.MethodPost: do(func(c *call, t *tx) reply {
		return res.withSecret(t, http.StatusOK, res.readOne(c, t))
	})}}
	return res
}

// words checks a list of texts.
func words(t *tx, v any) (any, any) {
	list, complaint := items(t, v)
	if complaint != nil {
		return nil, complaint
	}
	for _, e := range list.([]any) {
		if _, ok := e.(string); !ok {
			return nil, message("Not a valid string.")
		}
	}
	return list, nil
}
