// Package bucket keeps a state in a bucket: it is [state.Objects] by S3's API. It must not know what is in the objects, and it prints nothing.
//
// Address and credentials are those of other programs that use S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or
// the profile in ~/.aws/credentials, or what the machine has been given; AWS_REGION; AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. No
// error names a credential, and a credential goes to that endpoint only.
package bucket
