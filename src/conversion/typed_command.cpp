#include "typed_command.hpp"

namespace snowflake::typed_command {

namespace {

bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '\\';
}

bool is_plain(const StringInfoData &text) {
    return std::all_of(text.data, text.data + text.len, [](char c) { return is_plain(c); });
}

// Copies a constant or identifier without its quotes, but for those that are doubled, and with one
// backslash for two of E'..'. Returns what follows it; nullptr: the quote has no end.
const char *read_quoted(const char *quoted, bool has_escapes, StringInfo content) {
    const char quote = *quoted;
    const char *p = quoted + 1;
    for (; *p != '\0' && (*p != quote || p[1] == quote); ++p) {
        if (*p == quote || (has_escapes && *p == '\\' && p[1] == '\\'))
            ++p;
        if (*p == quote)
            appendStringInfoChar(content, quote);
        appendStringInfoChar(content, *p);
    }
    return *p == '\0' ? nullptr : p + 1;
}

void append_escaped(StringInfo command, const char *utf8) {
    for (const char *p = utf8; *p != '\0'; p += is_plain(*p) ? 1 : pg_utf_mblen(server::bytes(p)))
        if (is_plain(*p))
            appendStringInfoChar(command, *p);
        else
            appendStringInfo(command, "\\+%06X", utf8_to_unicode(server::bytes(p)));
}

void append_quoted(StringInfo command, char quote, const StringInfoData &content) {
    const bool plain = is_plain(content);
    appendStringInfo(command, "%s%c", plain ? "" : "U&", quote);
    append_escaped(command, content.data);
    appendStringInfoChar(command, quote);
}

// In UTF-8, without what has none there.
char *in_utf8(const char *text) {
    if (GetDatabaseEncoding() != PG_SQL_ASCII)
        return pg_server_to_any(text, static_cast<int>(std::strlen(text)), PG_UTF8);
    char *copy = pstrdup(text);
    std::replace_if(
        copy, copy + std::strlen(copy), [](char c) { return IS_HIGHBIT_SET(c); }, '?');
    return copy;
}

} // namespace

char *in_ascii(const char *command) {
    StringInfoData result;
    StringInfoData content;
    initStringInfo(&result);
    initStringInfo(&content);
    for (const char *p = in_utf8(command); *p != '\0';) {
        const bool has_escapes = *p == 'E' && p[1] == '\'';
        const char *quoted = has_escapes ? p + 1 : p;
        resetStringInfo(&content);
        const char *next = *quoted == '\'' || *quoted == '"'
                               ? read_quoted(quoted, has_escapes, &content)
                               : nullptr;
        if (next != nullptr) {
            append_quoted(&result, *quoted, content);
            p = next;
        } else {
            appendStringInfoChar(&result, is_plain(*p) ? *p : '?');
            ++p;
        }
    }
    return result.data;
}

} // namespace snowflake::typed_command
