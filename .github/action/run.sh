#!/usr/bin/env bash
# What the action does: see action.yml for its inputs, docs/ci.md for workflows.
set -euo pipefail

marker="<!-- planform: $NAME -->"
plan=$RUNNER_TEMP/planform-$NAME.plan.json # never a file of the repository
page=$RUNNER_TEMP/planform-$NAME.plan.html
report=$RUNNER_TEMP/plan.md
errors=$RUNNER_TEMP/errors.txt

# words splits a text at blanks and line ends; quotes hold together as in a shell, and nothing is expanded.
words=()
words() {
  local word list
  words=()
  list=$(xargs printf '%s\n' <<<"$1") || { echo "::error::a quote is not closed in: $1"; exit 64; }
  while IFS= read -r word; do
    [[ -z $word ]] || words+=("$word")
  done <<<"$list"
}
words "$APPLY_ARGS"
apply_args=(${words[@]+"${words[@]}"})
words "$ARGS"
args=(${words[@]+"${words[@]}"})
files=()
while IFS= read -r file; do
  [[ -z $file ]] || files+=(-f "$file")
done <<<"$FILES"

output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

# make_plan leaves $plan, $report and, in $pending, whether anything changes. If there is no plan, $report says why. It takes
# further flags.
make_plan() {
  local code=0
  pending=true
  rm -f "$plan"
  { planform validate "${files[@]}" --output github &&
    planform plan "${files[@]}" ${args[@]+"${args[@]}"} "$@" --out "$plan" --output markdown --detailed-exitcode >"$report"; } 2>"$errors" || code=$?
  cat "$errors" >&2
  case $code in
    0) pending=false ;;
    2 | 3) ;;
    *)
      failure "$code" >"$report"
      cat "$report" >>"$GITHUB_STEP_SUMMARY"
      return "$code"
      ;;
  esac
  cat "$report" >>"$GITHUB_STEP_SUMMARY"
  planform show "$plan" --output html >"$page"
  output pending "$pending"
  output hash "$(grep -om 1 '"hash": *"[^"]*' "$plan" | cut -d '"' -f 4)"
}

# failure stands in place of a plan. Indented by four, no text is Markdown.
failure() {
  printf '**planform could not plan this change** (exit code %s): [log](%s). Earlier plans are void.\n\n' \
    "$1" "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
  grep -v '^::' "$errors" | head -n 200 | cut -c 1-300 | sed 's/^/    /' || true
}

# comment writes the comment that this action wrote before, or a new one. Others could write one that looks alike.
comment() {
  local id
  id=$(gh api graphql --paginate --field owner="${GITHUB_REPOSITORY%/*}" --field name="${GITHUB_REPOSITORY#*/}" --field number="$PULL_REQUEST" \
    --field query='query($owner: String!, $name: String!, $number: Int!, $endCursor: String) {
      repository(owner: $owner, name: $name) { pullRequest(number: $number) { comments(first: 100, after: $endCursor) {
        pageInfo { hasNextPage endCursor } nodes { viewerDidAuthor body url } } } } }' \
    --jq ".data.repository.pullRequest.comments.nodes[] | select(.viewerDidAuthor and (.body | startswith(\"$marker\"))) | .url | split(\"-\")[-1]")
  id=${id%%$'\n'*}
  { printf '%s\n' "$marker"; cat "$report"; } >"$RUNNER_TEMP/comment.md"
  [[ ! -f $plan ]] || printf '\n[The same as a page](%s/%s/actions/runs/%s#artifacts), with each text and filters: the artifact `planform-%s-page`.\n' \
    "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$GITHUB_RUN_ID" "$NAME" >>"$RUNNER_TEMP/comment.md"
  if [[ -n $id ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$RUNNER_TEMP/comment.md" --silent
  elif [[ $COMMENT_EMPTY == true || $pending == true ]]; then
    gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" --field "body=@$RUNNER_TEMP/comment.md" --silent
  fi
}

# label leaves one label of this action on the pull request, for what the plan does; none if there is no plan.
label() {
  local had path want='' kept=false labels=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/labels prefix="planform $NAME: "
  if [[ -f $plan && $pending == false ]]; then
    want=${prefix}nothing
  elif [[ -f $plan ]]; then
    want=${prefix}changes
    [[ $(grep -om 1 '"delete": *[0-9]*' "$plan") != *[1-9]* ]] || want=${prefix}deletions
  fi
  while IFS=$'\t' read -r had path; do
    if [[ $had == "$want" ]]; then
      kept=true
    elif [[ -n $had ]]; then
      gh api --method DELETE "$labels/$path" --silent
    fi
  done < <(gh api "$labels" --jq ".[].name | select(startswith(\"$prefix\")) | \"\\(.)\\t\\(@uri)\"")
  [[ -z $want || $kept == true ]] || gh api --method POST "$labels" --field "labels[]=$want" --silent
}

# fetch_plan takes the plan that was reviewed: that of the newest run for the head of the merged pull request. Runs of other
# workflows and of forks can have artifacts of the same name.
fetch_plan() {
  local head run dir=$RUNNER_TEMP/planform-$NAME
  head=$(gh api "repos/$GITHUB_REPOSITORY/commits/$GITHUB_SHA/pulls" \
    --jq "[.[] | select(.merged_at and .base.ref == \"$GITHUB_REF_NAME\")][0].head.sha // empty")
  [[ -n $head ]] || { echo "::error::$GITHUB_SHA is of no pull request that was merged into $GITHUB_REF_NAME: there is no reviewed plan"; return 1; }
  run=$(gh api "repos/$GITHUB_REPOSITORY/actions/workflows/$PLAN_WORKFLOW/runs?head_sha=$head&event=pull_request&per_page=100" \
    --jq '[.workflow_runs[] | select(.head_repository.id == .repository.id)] | max_by(.run_number).id // empty')
  [[ -n $run ]] || { echo "::error::the workflow $PLAN_WORKFLOW did not run for $head: the input plan-workflow names the file of the one that plans"; return 1; }
  rm -rf "$dir"
  gh run download "$run" --repo "$GITHUB_REPOSITORY" --name "planform-$NAME" --dir "$dir" ||
    { echo "::error::there is no plan planform-$NAME of $head: run the plan of the pull request again"; return 1; }
  if [[ $(find "$dir" -mindepth 1) != "$dir/${plan##*/}" || ! -f $dir/${plan##*/} || -L $dir/${plan##*/} ]]; then
    echo "::error::the artifact planform-$NAME of $head is not one plan"
    return 1
  fi
  mv "$dir/${plan##*/}" "$plan"
}

# commit_state pushes what the state file knows now. Somebody else may have pushed meanwhile.
commit_state() {
  local path paths=()
  while IFS= read -r path; do
    paths+=("$path")
  done < <(find . -path '*/.planform/*.state.json' -not -path './.git/*')
  ((${#paths[@]})) || return 0
  git add --force "${paths[@]}"
  git diff --cached --quiet && return 0
  git -c user.name=planform -c user.email=planform@users.noreply.github.com commit --quiet --message "planform: state after apply [skip ci]"
  for _ in 1 2 3; do
    git push --quiet && return 0
    git pull --quiet --rebase
  done
  echo "::error::the state could not be pushed: push the commit of this run, or the next plan finds the objects by their marks only"
  return 1
}

# issue opens an issue about drift, and updates or closes the one that this action opened before. Others could open one with that title.
issue() {
  local number title="The workspace differs from its manifests ($NAME)"
  printf '\n%s\n' '`planform pull` takes what people changed into the manifests, the next apply takes it back. This issue closes itself when they are equal.' >>"$report"
  number=$(gh api graphql --paginate --raw-field search="repo:$GITHUB_REPOSITORY is:issue is:open in:title \"$title\"" \
    --raw-field query='query($search: String!, $endCursor: String) {
      search(type: ISSUE, query: $search, first: 100, after: $endCursor) {
        pageInfo { hasNextPage endCursor } nodes { ... on Issue { viewerDidAuthor title number } } } }' \
    --jq ".data.search.nodes[] | select(.viewerDidAuthor and .title == \"$title\") | .number")
  number=${number%%$'\n'*}
  case $pending:$number in
    true:) gh issue create --repo "$GITHUB_REPOSITORY" --title "$title" --body-file "$report" ;;
    true:*) gh issue edit "$number" --repo "$GITHUB_REPOSITORY" --body-file "$report" ;;
    false:) ;;
    false:*) gh issue close "$number" --repo "$GITHUB_REPOSITORY" --comment "They are equal again." ;;
  esac
}

code=0
case $COMMAND in
  plan)
    make_plan || code=$?
    if [[ -n $PULL_REQUEST ]]; then
      comment
      [[ $LABEL != true ]] || label
    fi
    ;;
  apply)
    fetch_plan || exit
    # With the files and flags of the workflow, which were reviewed: the plan has to be of these.
    planform apply "$plan" "${files[@]}" ${args[@]+"${args[@]}"} ${apply_args[@]+"${apply_args[@]}"} || code=$?
    [[ $COMMIT_STATE != true ]] || commit_state # also what a run that failed has made
    ;;
  drift)
    make_plan --allow-unsupported || exit # what the edition lacks is no drift, and would keep the issue open
    issue
    ;;
  *)
    echo "::error::command is plan, apply or drift, not $COMMAND"
    code=64
    ;;
esac
exit "$code"
