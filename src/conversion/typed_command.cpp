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

void append_constant(StringInfo command, const StringInfoData &content) {
    appendStringInfoString(command, is_plain(content) ? "'" : "E'");
    for (const char *p = content.data; *p != '\0'; ++p)
        if (is_plain(*p))
            appendStringInfoChar(command, *p);
        else
            appendStringInfo(command, "\\x%02X", *server::bytes(p));
    appendStringInfoChar(command, '\'');
}

void append_identifier(StringInfo command, const StringInfoData &content) {
    appendStringInfoString(command, is_plain(content) ? "\"" : "U&\"");
    for (const char *p = content.data; *p != '\0'; p += pg_mblen(p))
        if (is_plain(*p))
            appendStringInfoChar(command, *p);
        else if (const pg_wchar code_point = server::code_point_of(p); code_point != 0)
            appendStringInfo(command, "\\+%06X", code_point);
        else
            appendStringInfoChar(command, '?');
    appendStringInfoChar(command, '"');
}

} // namespace

char *in_ascii(const char *command) {
    StringInfoData result;
    StringInfoData content;
    initStringInfo(&result);
    initStringInfo(&content);
    for (const char *p = command; *p != '\0';) {
        const bool has_escapes = *p == 'E' && p[1] == '\'';
        const char *quoted = has_escapes ? p + 1 : p;
        resetStringInfo(&content);
        const char *next = *quoted == '\'' || *quoted == '"'
                               ? read_quoted(quoted, has_escapes, &content)
                               : nullptr;
        if (next != nullptr) {
            if (*quoted == '\'')
                append_constant(&result, content);
            else
                append_identifier(&result, content);
            p = next;
        } else {
            appendStringInfoChar(&result, is_plain(*p) ? *p : '?');
            ++p;
        }
    }
    return result.data;
}

} // namespace snowflake::typed_command
