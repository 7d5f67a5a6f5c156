// SPDX-License-Identifier: MIT
// Completion for bash, zsh and fish from the commands' tables.
#include <string.h>

#include "cli.h"

static const char *const usage[] = {"SHELL", NULL};

static const help_item examples[] = {
    {"source <(sinew completion bash)", "in ~/.bashrc"},
    {"sinew completion zsh > \"${fpath[1]}/_sinew\"", "once, for zsh"},
    {"sinew completion fish > ~/.config/fish/completions/sinew.fish", "once, for fish"},
    {0}};

// The next option of a command: its own, then those of all. Begin with NULL.
static const option *next_option(const command *c, const option *o) {
    if (o == NULL)
        o = c->options != NULL ? c->options : common_options;
    else
        o++;
    if (o->kind != OPTION_END) return o;
    // a table ends where an empty option stands; the common one is last
    bool common = o == common_options + 2;
    return common ? NULL : common_options;
}

static bool takes_path(const option *o) {
    return o->kind == OPTION_FILE || o->kind == OPTION_FOLDER;
}

// --- bash ------------------------------------------------------------------------------------------

static void bash_command(const command *c) {
    printf("    %s)\n        case $before in\n", c->name);
    for (const option *o = next_option(c, NULL); o != NULL; o = next_option(c, o)) {
        if (o->kind == OPTION_FLAG || o->implied != NULL) continue;
        printf("        %s%s%s) ", o->name, o->letter != NULL ? "|" : "",
               o->letter != NULL ? o->letter : "");
        if (o->choices != NULL) printf("words='%s'; ", o->choices);
        if (o->kind == OPTION_FILE) printf("files=f; ");
        if (o->kind == OPTION_FOLDER) printf("files=d; ");
        puts("value=1 ;;");
    }
    puts("        esac");
    printf("        [ -n \"$value\" ] || words='");
    for (const option *o = next_option(c, NULL); o != NULL; o = next_option(c, o)) {
        printf("%s ", o->name);
        for (const char *at = o->implied != NULL && o->choices != NULL ? o->choices : "";
             *at != '\0';) {
            size_t n = strcspn(at, " ");
            printf("%s=%.*s ", o->name, (int)n, at);
            at += n + (at[n] == ' ');
        }
    }
    puts("'");
    if (c->word != NULL && c->word_choices != NULL)
        printf("        [ -n \"$value\" ] || case $this in -*) ;; *) words='%s' ;; esac\n",
               c->word_choices);
    if (c->word != NULL && (c->word_choices == NULL || strcmp(c->word, "MODEL") == 0))
        puts("        [ -n \"$value\" ] || case $this in -*) ;; *) files=f ;; esac");
    puts("        ;;");
}

static void print_bash(void) {
    puts("# bash completion for sinew; made by sinew completion bash\n"
         "_sinew() {\n"
         "    local this=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local words='' files='' value=''\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    printf("        words='");
    for (int i = 0; commands[i] != NULL; i++) printf("%s ", commands[i]->name);
    puts("--help --version'\n    else\n    case ${COMP_WORDS[1]} in");
    for (int i = 0; commands[i] != NULL; i++) bash_command(commands[i]);
    puts("    esac\n    fi\n"
         "    local IFS=$' \\t\\n'\n"
         "    [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$this\"))\n"
         "    IFS=$'\\n'\n"
         "    [ -z \"$files\" ] || COMPREPLY+=($(compgen -$files -- \"$this\"))\n"
         "    [ -z \"$files\" ] || compopt -o filenames 2>/dev/null\n"
         "    return 0\n"
         "}\n"
         "complete -F _sinew sinew");
}

// --- zsh -------------------------------------------------------------------------------------------

// Inside single quotes and a specification's brackets.
static void zsh_text(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr("[]:\\", *text) != NULL) putchar('\\');
        putchar(*text);
    }
}

static void zsh_action(const option *o) {
    if (o->kind == OPTION_FLAG) return;
    printf("%s%s:", o->implied != NULL ? "::" : ":", o->value);
    if (takes_path(o))
        printf("%s", o->kind == OPTION_FILE ? "_files" : "_files -/");
    else if (o->choices != NULL)
        printf("(%s)", o->choices);
}

static void zsh_option(const option *o) {
    const char *names[2] = {o->name, o->letter};
    for (int k = 0; k < 2; k++) {
        if (names[k] == NULL) continue;
        printf("            '%s%s%s[", o->many ? "*" : "", names[k],
               o->kind == OPTION_FLAG ? ""
               : o->implied != NULL   ? "=-"
               : k == 0               ? "="
                                      : "");
        zsh_text(o->help);
        printf("]");
        zsh_action(o);
        puts("' \\");
    }
}

static void print_zsh(void) {
    puts("#compdef sinew\n"
         "# zsh completion for sinew; made by sinew completion zsh\n"
         "_sinew() {\n"
         "    local -a names\n"
         "    names=(");
    for (int i = 0; commands[i] != NULL; i++) {
        printf("        '%s:", commands[i]->name);
        zsh_text(commands[i]->summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command names\n"
         "        return\n"
         "    fi\n"
         "    case $words[2] in");
    for (int i = 0; commands[i] != NULL; i++) {
        const command *c = commands[i];
        printf("    %s)\n        shift words; (( CURRENT-- ))\n        _arguments -S \\\n",
               c->name);
        for (const option *o = next_option(c, NULL); o != NULL; o = next_option(c, o))
            zsh_option(o);
        if (c->word != NULL && c->word_choices != NULL && strcmp(c->word, "MODEL") != 0)
            printf("            '*:%s:(%s)'\n", c->word, c->word_choices);
        else if (c->word != NULL)
            printf("            '*:%s:_files'\n", c->word);
        else
            puts("            && return");
        puts("        ;;");
    }
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _sinew ]; then _sinew \"$@\"; else compdef _sinew sinew; fi");
}

// --- fish ------------------------------------------------------------------------------------------

static void fish_text(const char *text) {
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_fish(void) {
    puts("# fish completion for sinew; made by sinew completion fish\ncomplete -c sinew -f");
    for (int i = 0; commands[i] != NULL; i++) {
        printf("complete -c sinew -n __fish_use_subcommand -a %s -d ", commands[i]->name);
        fish_text(commands[i]->summary);
        putchar('\n');
    }
    for (int i = 0; commands[i] != NULL; i++) {
        const command *c = commands[i];
        for (const option *o = next_option(c, NULL); o != NULL; o = next_option(c, o)) {
            printf("complete -c sinew -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                   o->name + 2);
            if (o->letter != NULL) printf(" -s %s", o->letter + 1);
            if (o->kind != OPTION_FLAG && o->implied == NULL)
                printf(takes_path(o) ? " -r -F" : " -x");
            if (o->choices != NULL) printf(" -a '%s'", o->choices);
            printf(" -d ");
            fish_text(o->help);
            putchar('\n');
        }
        if (c->word == NULL) continue;
        printf("complete -c sinew -n '__fish_seen_subcommand_from %s'", c->name);
        if (c->word_choices != NULL) printf(" -a '%s'", c->word_choices);
        puts(c->word_choices == NULL || strcmp(c->word, "MODEL") == 0 ? " -F" : "");
    }
}

static int run(int argc, char **argv) {
    const char *word = NULL;
    int nword, code = parse_options(&command_completion, argc, argv, NULL, &word, &nword);
    if (code >= 0) return code;
    if (strcmp(word, "bash") == 0)
        print_bash();
    else if (strcmp(word, "zsh") == 0)
        print_zsh();
    else if (strcmp(word, "fish") == 0)
        print_fish();
    else
        return wrong_usage(&command_completion,
                           "there is completion for bash, zsh and fish, not for \"%s\"", word);
    return EXIT_OK;
}

const command command_completion = {
    .name = "completion",
    .summary = "print completion for bash, zsh or fish",
    .usage = usage,
    .about =
        "Print a script that lets a shell complete sinew's commands, options and their values.",
    .examples = examples,
    .word = "SHELL",
    .word_choices = "bash zsh fish",
    .least_words = 1,
    .most_words = 1,
    .run = run};
