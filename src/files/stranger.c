// SPDX-License-Identifier: MIT
#include "files/stranger.h"

#include <string.h>

const char *sn_stranger(const void *bytes, size_t length, int text) {
    static const struct {
        const char *start;
        size_t length;
        const char *sentence;
    } known[] = {
        {"\xff\xfe", 2, "this is text in UTF-16: save it as UTF-8 (or \"ANSI\", or \"CSV\")"},
        {"\xfe\xff", 2, "this is text in UTF-16: save it as UTF-8 (or \"ANSI\", or \"CSV\")"},
        {"PK\x03\x04", 4, "this is a ZIP archive or a spreadsheet: unpack it, or save it as CSV"},
        {"\x1f\x8b", 2, "this is compressed with gzip: unpack it first"},
        {"Kaydara FBX", 11, "FBX files are not read: export BVH"},
        {"; FBX", 5, "FBX files are not read: export BVH"},
        {"version https://git-lfs", 23,
         "this is only the pointer to a file in Git LFS: fetch the file with git lfs pull"},
        {"<!DOCTYPE html", 14, "this is a web page, not the file: download it again"},
        {"<html", 5, "this is a web page, not the file: download it again"},
    };
    if (length == 0) return "the file is empty";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (length >= known[i].length && memcmp(bytes, known[i].start, known[i].length) == 0)
            return known[i].sentence;
    size_t head = length < 4096 ? length : 4096;
    if (text && memchr(bytes, '\0', head) != NULL)
        return "this is no text, as it holds NUL bytes: it is another kind of file, or damaged";
    return NULL;
}
