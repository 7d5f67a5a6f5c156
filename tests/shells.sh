#!/bin/sh
# The man pages are good troff, and the shells complete what the tables say. $1: the program.
# What is not installed is left out and said; exit 77 when nothing is.
set -eu
program=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
bad=0 ran=0
commands=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 11 ] || { echo "sinew --help lists too few commands"; exit 1; }

"$program" man > "$place/sinew.1"
for c in $commands; do "$program" man "$c" > "$place/sinew-$c.1"; done
if command -v groff >/dev/null; then
    ran=1
    for page in "$place"/*.1; do
        said=$(groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || { echo "groff: $said"; bad=1; }
    done
else echo "skipped: the man pages by groff, which is not installed"; fi
if command -v mandoc >/dev/null; then
    ran=1
    for page in "$place"/*.1; do
        # pages made from tables have no date of their own
        if mandoc -T lint -W warning "$page" | grep -v 'missing date'; then bad=1; fi
    done
else echo "skipped: the man pages by mandoc, which is not installed"; fi

expect() { # expect SHELL LINE WORD REPLIES
    case " $(echo "$4" | tr '\n' ' ') " in
    *" $3 "*) ;;
    *) echo "$1: after \"$2\" there is no $3 but: $4"; bad=1 ;;
    esac
}
refuse() { # refuse SHELL LINE WORD REPLIES
    case " $(echo "$4" | tr '\n' ' ') " in
    *" $3 "*) echo "$1: after \"$2\" there is $3"; bad=1 ;;
    esac
}
all() { # all SHELL FUNCTION: what each shell must complete; FUNCTION LINE prints a word a line
    expect "$1" "sinew " convert "$($2 'sinew ')"
    expect "$1" "sinew fit --lim" --limits "$($2 'sinew fit --lim')"
    expect "$1" "sinew fit --limits " soft "$($2 'sinew fit --limits ')"
    refuse "$1" "sinew fit --limits " --limits "$($2 'sinew fit --limits ')"
    expect "$1" "sinew solve --solver new" newton-pcg "$($2 'sinew solve --solver new')"
    refuse "$1" "sinew info --" --limits "$($2 'sinew info --')"
    expect "$1" "sinew info --" --json "$($2 'sinew info --')"
    expect "$1" "sinew completion " fish "$($2 'sinew completion ')"
    expect "$1" "sinew convert --out-units " source "$($2 'sinew convert --out-units ')"
    expect "$1" "sinew info ta" take.c3d "$($2 'sinew info ta')"
    expect "$1" "sinew fit -i ta" take.c3d "$($2 'sinew fit -i ta')"
}
for shell in bash zsh fish; do "$program" completion $shell > "$place/sinew.$shell"; done
cd "$place"
: > take.c3d
if command -v bash >/dev/null; then
    ran=1
    by_bash() {
        bash --norc -c 'source ./sinew.bash; read -ra COMP_WORDS <<<"$1"; case $1 in *" ") COMP_WORDS+=("");; esac
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sinew; printf "%s\n" "${COMPREPLY[@]}"' - "$1"
    }
    all bash by_bash
else echo "skipped: completion in bash, which is not installed"; fi
if command -v fish >/dev/null; then
    ran=1
    by_fish() { HOME=$place fish --no-config -c 'source ./sinew.fish; complete -C "$argv[1]"' "$1" | cut -f1; }
    all fish by_fish
else echo "skipped: completion in fish, which is not installed"; fi
if command -v zsh >/dev/null; then
    ran=1
    # zsh completes at a prompt alone: one on a terminal of its own
    cat > ask.zsh <<'ZSH'
zmodload zsh/zpty
zpty ask zsh -f -i
zpty -w ask "PS1= PS2= RPS1= ; cd '$PWD'; fpath=('$PWD/functions' \$fpath); autoload -Uz compinit; compinit -u -d '$PWD/dump'"
zpty -w ask "zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' select-prompt ''; LISTMAX=10000; COLUMNS=200"
zpty -w ask 'done_() { compstate[insert]=; compstate[list]=; print -r -- "<begin>"; print -rl -- $found; print -r -- "<end>" }'
zpty -w ask 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)* ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; found+=($hits); builtin compadd "$@" }'
zpty -w ask 'look() { found=(); _main_complete "$@"; done_ }; zle -C look complete-word look; bindkey "^I" look; bindkey "^U" kill-whole-line; print "<ready>"'
zpty -r ask said '*<ready>*<ready>*'
zpty -n -w ask "$1"$'\t'
zpty -r ask said '*<begin>*<end>*'
print -r -- "${${said##*<begin>}%%<end>*}"
zpty -d ask
ZSH
    mkdir functions
    cp sinew.zsh functions/_sinew
    by_zsh() { timeout 20 zsh -f ask.zsh "$1" | tr -d '\r' | sed 's/=$//'; }
    all zsh by_zsh
else echo "skipped: completion in zsh, which is not installed"; fi
[ $ran = 1 ] || exit 77
exit $bad
