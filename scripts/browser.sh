#!/usr/bin/env bash
# Makes sure that the browser tests find Chromium and readable fonts. The headless shell, which some systems do not have,
# takes two thirds of the processor's time of the whole browser; the tests run with either.
set -euo pipefail
fonts="fonts-dejavu-core fonts-liberation fonts-noto-color-emoji"

has() { command -v "$1" >/dev/null && [ -d /usr/share/fonts/truetype/dejavu ]; }

install() {
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1
}

if has chromium-headless-shell; then
    exit 0
fi
if command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
    echo "Installing Chromium and fonts ..." >&2
    if DEBIAN_FRONTEND=noninteractive $as_root apt-get update -qq >&2 \
        && { install chromium-headless-shell $fonts || has chromium || install chromium $fonts; }; then
        exit 0
    fi
fi
if has chromium; then
    exit 0
fi
printf 'dramaturg: the browser tests need Chromium, and it could not be installed from here.\n  Install it with: sudo apt install %s\n' "chromium $fonts" >&2
exit 1
