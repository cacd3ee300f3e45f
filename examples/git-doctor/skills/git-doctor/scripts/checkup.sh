#!/bin/sh
# checkup.sh: says what state the Git repository in the current folder is in. It only reads.
# Output: one "name: value" line per observation, then "finding: ..." lines. Exit 0: looked; 2: no repository here.
set -u
# A check-up must not take the index lock or refresh anything.
GIT_OPTIONAL_LOCKS=0
export GIT_OPTIONAL_LOCKS

dir=$(git rev-parse --absolute-git-dir 2>/dev/null) || {
	echo "checkup: no git repository here" >&2
	exit 2
}
common=$(git rev-parse --path-format=absolute --git-common-dir)
say() { printf '%s: %s\n' "$1" "$2"; }
finding() { printf 'finding: %s: %s\n' "$1" "$2"; }

say git-dir "$dir"
say head "$(git log -1 --format='%h %cs %s' 2>/dev/null || echo 'no commits yet')"
branch=$(git symbolic-ref --quiet --short HEAD) || branch=
say branch "${branch:-none}"
say staged "$(git diff --cached --name-only 2>/dev/null | wc -l | tr -d ' ')"
say unstaged "$(git diff --name-only 2>/dev/null | wc -l | tr -d ' ')"
say untracked "$(git ls-files --others --exclude-standard --full-name :/ 2>/dev/null | wc -l | tr -d ' ')"
say unmerged "$(git ls-files --unmerged --full-name :/ 2>/dev/null | cut -f2 | sort -u | wc -l | tr -d ' ')"

operation=
[ -e "$dir/MERGE_HEAD" ] && operation=merge
[ -e "$dir/CHERRY_PICK_HEAD" ] && operation=cherry-pick
[ -e "$dir/REVERT_HEAD" ] && operation=revert
[ -e "$dir/BISECT_LOG" ] && operation=bisect
# Last, because a rebase that stopped also leaves CHERRY_PICK_HEAD behind.
if [ -d "$dir/rebase-merge" ] || [ -d "$dir/rebase-apply" ]; then operation=rebase; fi
[ -n "$operation" ] && finding operation-in-progress "$operation"

if [ -z "$branch" ]; then
	# During a rebase HEAD is detached by design.
	[ "$operation" = rebase ] || finding detached-head "commits made here belong to no branch"
else
	upstream=$(git for-each-ref --format='%(upstream:short)' "refs/heads/$branch")
	say upstream "${upstream:-none}"
	if [ -n "$upstream" ]; then
		if counts=$(git rev-list --left-right --count "HEAD...$upstream" 2>/dev/null); then
			ahead=$(echo "$counts" | cut -f1)
			behind=$(echo "$counts" | cut -f2)
			say ahead "$ahead"
			say behind "$behind"
			if [ "$ahead" -gt 0 ] && [ "$behind" -gt 0 ]; then
				finding diverged "$ahead ahead of and $behind behind $upstream"
			fi
		else
			finding upstream-gone "$upstream is not there any more"
		fi
	fi
fi

for lock in "$dir/index.lock" "$dir/HEAD.lock" "$common/config.lock" "$common/packed-refs.lock"; do
	[ -e "$lock" ] && finding stale-lock "$lock; is a git command running?"
done

stashes=$(git stash list 2>/dev/null | wc -l | tr -d ' ')
[ "$stashes" -gt 0 ] && finding stashes "$stashes in the stash"

loose=$(git count-objects | cut -d' ' -f1)
say loose-objects "$loose"
[ "$loose" -gt 10000 ] && finding many-loose-objects "$loose loose objects"

# Sizes come from the object database, so this finds files that were deleted long ago as well.
large=$(git cat-file --batch-all-objects --unordered --batch-check='%(objecttype) %(objectsize)' 2>/dev/null |
	awk '$1 == "blob" && $2 > 20 * 1024 * 1024 { n++ } END { print n + 0 }')
[ "$large" -gt 0 ] && finding large-blobs "$large of more than 20 MiB"
exit 0
