# Downloads a list of URLs or hosts, and publishes its changes as a signed set. Arguments: the
# address of the list, and the name of the set. LISTS, PUBLISHED and KEY may name other places. See
# docs/operations/publish-lists.md.
set -eu
trap 'status=$?; [ $status -eq 0 ] || echo "$(date -u +%FT%TZ) $2: failed with status $status"' EXIT
firstseen=$(cd "$(dirname "$0")/.." && pwd)/firstseen
cd "${LISTS:-/var/lib/lists}"
# Only a complete download replaces the list.
curl -fsS -o "$2.new" "$1"
mv "$2.new" "$2.txt"
"$firstseen" snapshot publish --input "$2.txt" --canonicaliser url-expression \
    --snapshot-url-fpr 0.001 --hash-key-file public --directory "${PUBLISHED:-/srv/lists}/$2" \
    --set "$2" --signing-key "${KEY:-/etc/firstseen/signing.key}" --expire-after 3d --json
