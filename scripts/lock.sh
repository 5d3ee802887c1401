#!/usr/bin/env bash
# Writes requirements.lock anew (needs uv): every package once, with hashes, in the first section whose users need it.
# What is locked stays as it is where it still fits; `bash scripts/lock.sh --upgrade` takes the newest.
set -euo pipefail
cd "$(dirname "$0")/.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
pins=$made/pins.txt
pinned() { sed -nE 's/^([A-Za-z0-9_.-]+==[^\\]+[^ \\]) *\\?$/\1/p' "$1"; }
[ "${1:-}" = --upgrade ] || pinned requirements.lock > "$pins"
touch "$pins"

resolve() {
    uv pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate --quiet \
        --python-version 3.11 --constraints "$pins" "${@:2}" --output-file "$made/$1"
}

resolve everything --extra build --extra auth --extra dev --extra audit
pinned "$made/everything" > "$pins"
resolve default --extra build
resolve login --extra build --extra auth
resolve dev --extra build --extra auth --extra dev
cp "$made/everything" "$made/audit"
{
    echo "# Every package that Dramaturg is tested with. scripts/lock_section.sh prints one of the sections."
    for section in default login dev audit; do
        echo "# [$section]"
        [ -e "$made/seen" ] || echo > "$made/seen"
        # litellm names Amazon's client for Amazon's models alone; whoever judges with those installs boto3.
        without=$([ "$section" = dev ] || echo '^(boto3|botocore|s3transfer|jmespath)==')
        # A package's lines begin at the margin, its hashes are indented.
        awk -v without="${without:-^$}" 'NR == FNR { if (/^[^ #]/) seen[$0]; next } /^[^ #]/ { new = !($0 in seen) && $0 !~ without } new' \
            "$made/seen" "$made/$section" | tee -a "$made/seen"
    done
} > requirements.lock
