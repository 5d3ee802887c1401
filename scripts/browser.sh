#!/usr/bin/env bash
# Makes sure that the browser tests find Chromium and readable fonts.
set -euo pipefail
packages="chromium fonts-dejavu-core fonts-liberation fonts-noto-color-emoji"

if command -v chromium >/dev/null && [ -d /usr/share/fonts/truetype/dejavu ]; then
    exit 0
fi
if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
    echo "Installing $packages ..." >&2
    if DEBIAN_FRONTEND=noninteractive $as_root apt-get update -qq >&2 \
        && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
        exit 0
    fi
fi
printf 'dramaturg: the browser tests need Chromium, and it could not be installed from here.\n  Install it with: sudo apt install %s\n' "$packages" >&2
exit 1
