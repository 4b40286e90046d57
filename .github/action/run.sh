#!/usr/bin/env bash
# What the action does: see action.yml for its inputs, docs/ci.md for workflows.
set -euo pipefail

marker="<!-- planform: $NAME -->"
plan=planform-$NAME.plan.json
read -ra args <<<"$ARGS"
read -ra apply_args <<<"$APPLY_ARGS"
files=()
while IFS= read -r file; do
  [[ -z $file ]] || files+=(-f "$file")
done <<<"$FILES"

output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

# make_plan leaves plan, plan.md and, in $pending, whether anything changes.
make_plan() {
  local code=0
  planform validate "${files[@]}" --output github
  planform plan "${files[@]}" ${args[@]+"${args[@]}"} --out "$plan" --output markdown --detailed-exitcode >"$RUNNER_TEMP/plan.md" || code=$?
  case $code in
    0) pending=false ;;
    2 | 3) pending=true ;;
    *) return "$code" ;;
  esac
  cat "$RUNNER_TEMP/plan.md" >>"$GITHUB_STEP_SUMMARY"
  output pending "$pending"
  output hash "$(grep -om 1 '"hash": *"[^"]*' "$plan" | cut -d '"' -f 4)"
}

# comment writes the comment that this action wrote before, or a new one.
comment() {
  local id
  id=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" \
    --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
  { printf '%s\n' "$marker"; cat "$1"; } >"$RUNNER_TEMP/comment.md"
  if [[ -n $id ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$RUNNER_TEMP/comment.md" --silent
  else
    gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" --field "body=@$RUNNER_TEMP/comment.md" --silent
  fi
}

# fetch_plan takes the plan that was reviewed: that of the newest run for the head of the merged pull request.
fetch_plan() {
  local head run
  head=$(gh api "repos/$GITHUB_REPOSITORY/commits/$GITHUB_SHA/pulls" --jq '[.[] | select(.merged_at)][0].head.sha // empty')
  [[ -n $head ]] || { echo "::error::$GITHUB_SHA is of no merged pull request: there is no reviewed plan"; return 1; }
  run=$(gh api "repos/$GITHUB_REPOSITORY/actions/artifacts?name=planform-$NAME&per_page=100" \
    --jq "[.artifacts[] | select(.workflow_run.head_sha == \"$head\" and (.expired | not))][0].workflow_run.id // empty")
  [[ -n $run ]] || { echo "::error::there is no plan planform-$NAME of $head: run the plan of the pull request again"; return 1; }
  gh run download "$run" --repo "$GITHUB_REPOSITORY" --name "planform-$NAME"
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

# report opens an issue about drift, updates it, or closes it.
report() {
  local number title="The workspace differs from its manifests ($NAME)"
  number=$(gh issue list --repo "$GITHUB_REPOSITORY" --state open --search "in:title \"$title\"" --json number --jq '.[0].number // empty')
  case $pending:$number in
    true:) gh issue create --repo "$GITHUB_REPOSITORY" --title "$title" --body-file "$RUNNER_TEMP/plan.md" ;;
    true:*) gh issue edit "$number" --repo "$GITHUB_REPOSITORY" --body-file "$RUNNER_TEMP/plan.md" ;;
    false:) ;;
    false:*) gh issue close "$number" --repo "$GITHUB_REPOSITORY" --comment "They are equal again." ;;
  esac
}

case $COMMAND in
  plan)
    make_plan
    [[ -z $PULL_REQUEST ]] || comment "$RUNNER_TEMP/plan.md"
    ;;
  apply)
    [[ -e $plan ]] || fetch_plan
    code=0
    planform apply "$plan" ${apply_args[@]+"${apply_args[@]}"} || code=$?
    [[ $COMMIT_STATE != true ]] || commit_state # also what a run that failed has made
    exit "$code"
    ;;
  drift)
    make_plan
    report
    ;;
  *)
    echo "::error::command is plan, apply or drift, not $COMMAND"
    exit 64
    ;;
esac
