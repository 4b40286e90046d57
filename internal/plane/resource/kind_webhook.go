package resource

import "slices"

// Secret returns the field of a create's answer that shows a secret, once; "" = there is none. planform writes the secret only into the
// file that a SecretFile field names.
func (k *Kind) Secret() string {
	if slices.ContainsFunc(k.Fields, func(f Field) bool { return f.Type == SecretFile }) {
		return "secret_key"
	}
	return ""
}

func init() {
	register(Kind{
		Name: "webhook", Section: "webhooks", Param: "webhook_id", Scope: "webhooks",
		Doc: "A webhook of the workspace: the service sends events to its URL. API v2 only. The service shows its secret once, when it is created; " +
			"planform writes it into `secret_file`, and nowhere else. If the file is gone, `--new-secrets` asks for another secret.",
		Example: `{name: CI, url: "https://ci.example.com/plane", events: [work_item], secret_file: secrets/ci.key}`,
		KeyFrom: []string{"name"}, NaturalKey: []string{"name", "url"},
		Fields: []Field{
			{Name: "name", Type: Text, Required: true, MaxLength: 255, Doc: "Name of the webhook.", Example: "CI"},
			{
				Name: "url", Type: URL, Required: true, MaxLength: 1024, Doc: "Address that events are sent to, `http` or `https`.",
				Example: "https://ci.example.com/plane",
			},
			{
				Name: "events", Wire: Wire{ContractDialect: "scopes"}, Type: EnumSet, Clear: ClearEmpty,
				Doc: "Events that are sent, in the words of the service.", Example: "work_item",
			},
			{Name: "is_active", Type: Boolean, Default: "true", Doc: "Whether events are sent.", Example: "true"},
			{
				Name: "content_type", Type: Enum, Enum: []string{"application/json", "application/x-www-form-urlencoded"},
				Doc: "Form of the events.", Example: "application/json",
			},
			{Name: "version", Type: Text, MaxLength: 10, Doc: "Version of the events, such as v1.", Example: "v1"},
			{
				Name: "secret_file", Virtual: true, Type: SecretFile, Doc: "File for the secret, relative to the manifest, in or below its folder. " +
					"Only its owner can read it. planform never overwrites a file with content.",
				Example: "secrets/ci.key",
			},
		},
		Operations: append(crud(workspaceV2+"webhooks/", "webhook_id", "lgcud"), Operation{
			Verb: NewSecret, Path: workspaceV2 + "webhooks/{webhook_id}/regenerate/", Success: 200,
			Doc: "Gives the webhook a new secret, which the answer shows once. The former one is no good from then on.",
		}),
	})
}
