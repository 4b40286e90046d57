// Package bucket keeps a state in a bucket. It implements [state.Objects] with the API of S3. It must not
// know what the objects hold, and it prints nothing.
//
// Address and credential come from the same places as for other S3 clients: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, or the profile in ~/.aws/credentials, or the role of the machine; AWS_REGION; AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL. No error shows a credential, and a credential goes only to that endpoint.
package bucket
