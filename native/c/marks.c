/* What is read off texts one by one: whether they name a time, and which words stand at their ends.
 * Twins: has_time_words in text/time_words.py, end_marks in text/copies.py. */
#include "kernel.h"

#include <string.h>

/* Words, sorted, and the flags of each. */
typedef struct {
    const uint8_t *blob;
    const int64_t *at;
    const int32_t *flags;
    int64_t first[257]; /* where the words with each first byte begin */
} Words;

static void words_begin(Words *words, const uint8_t *blob, const int64_t *at, const int32_t *flags,
                        int64_t count)
{
    words->blob = blob;
    words->at = at;
    words->flags = flags;
    int64_t n = 0;
    for (int c = 0; c <= 256; c++) {
        while (n < count && blob[at[n]] < c) n++;
        words->first[c] = n;
    }
}

static int32_t flags_of(const Words *words, const uint8_t *word, int64_t size)
{
    for (int64_t n = words->first[word[0]]; n < words->first[word[0] + 1]; n++) {
        const uint8_t *known = words->blob + words->at[n];
        if (words->at[n + 1] - words->at[n] == size && memcmp(known, word, (size_t)size) == 0)
            return words->flags[n];
    }
    return 0;
}

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static uint8_t lowered(uint8_t c) { return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c; }

static int is_letter(uint8_t c) { return lowered(c) >= 'a' && lowered(c) <= 'z'; }

static int in_run(uint8_t c) { return is_letter(c) || is_digit(c) || c == '_'; }

static int is_space(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

/* --- times ------------------------------------------------------------------------------------ */

/* The same numbers as in text/time_words.py; the last three are for runs of digits. */
enum {
    TIME = 1, BEFORE_MONTH = 2, MONTH = 4, BEFORE_DAY = 8, WHICH = 16, SPAN = 32, COUNT = 64,
    UNIT = 128, HALF = 256, O = 512, CLOCK = 1024, COUPLE = 2048, OF = 4096,
    SHORT = 8192, TWO = 16384
};

enum { LONGEST_WORD = 16 };

static int is_pair(const uint8_t *c, const char *pair)
{
    return lowered(c[0]) == (uint8_t)pair[0] && lowered(c[1]) == (uint8_t)pair[1];
}

/* What a run of letters, digits and underscores is. */
static int32_t read_run(const Words *words, const uint8_t *run, int64_t size)
{
    int64_t digits = 0;
    while (digits < size && is_digit(run[digits])) digits++;
    if (digits == 0) {
        uint8_t lower[LONGEST_WORD];
        if (size > LONGEST_WORD) return 0;
        for (int64_t i = 0; i < size; i++) lower[i] = lowered(run[i]);
        return flags_of(words, lower, size);
    }
    if (digits == size) {
        int year = size == 4 && ((run[0] == '1' && run[1] == '9') || (run[0] == '2' && run[1] == '0'));
        return COUNT | (year ? TIME : 0) | (size <= 2 ? SHORT | BEFORE_MONTH : 0) | (size == 2 ? TWO : 0);
    }
    if (digits > 2 || size != digits + 2) return 0;
    const uint8_t *end = run + digits;
    int is_time = is_pair(end, "st") || is_pair(end, "nd") || is_pair(end, "rd") || is_pair(end, "th") ||
                  is_pair(end, "am") || is_pair(end, "pm");
    return is_time ? TIME : 0;
}

/* Whether two runs that follow each other name a time, with what stands between them. */
static int is_time(int32_t before, int32_t run, const uint8_t *gap, int64_t size)
{
    int spaces = 1, dashes = 1;
    for (int64_t i = 0; i < size; i++) {
        if (!is_space(gap[i])) spaces = 0;
        if (!is_space(gap[i]) && gap[i] != '-') dashes = 0;
    }
    return (dashes && (before & BEFORE_MONTH) && (run & MONTH)) ||
           (spaces && (((before & BEFORE_DAY) && (run & SHORT)) || ((before & WHICH) && (run & SPAN)) ||
                       ((before & COUNT) && (run & UNIT)))) ||
           (size == 1 && ((spaces && (before & SHORT) && (run & HALF)) ||
                          (gap[0] == ':' && (before & SHORT) && (run & TWO)) ||
                          (gap[0] == '\'' && (before & O) && (run & CLOCK))));
}

static int has_time(const Words *words, const uint8_t *text, int64_t size)
{
    int32_t before = 0;
    int64_t at = 0, behind = 0;
    for (;;) {
        while (at < size && !in_run(text[at])) at++;
        if (at >= size) return 0;
        int64_t begin = at;
        while (at < size && in_run(text[at])) at++;
        int32_t run = read_run(words, text + begin, at - begin);
        if (run & TIME) return 1;
        if (before && run) {
            if (is_time(before, run, text + behind, begin - behind)) return 1;
            if ((before & COUPLE) && (run & OF)) {
                int spaces = 1;
                for (int64_t i = behind; i < begin; i++) spaces &= is_space(text[i]);
                if (spaces) run |= COUNT;
            }
        }
        before = run;
        behind = at;
    }
}

/* Whether each of some ASCII texts, which lie one behind the other and end at `ends`, names a time. */
API int64_t kernel_times(const uint8_t *text, const int64_t *ends, int64_t texts, const uint8_t *blob,
                         const int64_t *at, const int32_t *flags, int64_t count, uint8_t *out)
{
    Words words;
    words_begin(&words, blob, at, flags, count);
    int64_t begin = 0;
    for (int64_t each = 0; each < texts; begin = ends[each++])
        out[each] = (uint8_t)has_time(&words, text + begin, ends[each] - begin);
    return texts;
}

/* --- the ends of texts ------------------------------------------------------------------------ */

/* The same numbers as in text/copies.py. */
enum { FILLER = 1, ASKS = 2, SEVERAL = 4 };

enum { PIECE = 32, WORDS = 8 };

typedef struct {
    uint8_t text[PIECE];
    int64_t size;
} Word;

static int opens(uint8_t c)
{
    return c == '"' || c == '\'' || c == '(' || c == '[' || c == '{' || c == '*' || c == '_';
}

static int closes(uint8_t c)
{
    return opens(c) || c == ')' || c == ']' || c == '}' || c == '.' || c == ',' || c == ';' || c == ':' ||
           c == '!';
}

/* Whether a piece may have the verb of a question in it; its last `closed` letters are signs. */
static int may_ask(const Words *special, const uint8_t *lower, int64_t size, int64_t closed)
{
    int64_t bare = size - closed, letters = 0;
    while (letters < bare && is_letter(lower[letters])) letters++;
    if (bare > 0 && letters == bare) return (flags_of(special, lower, bare) & ASKS) != 0;
    for (int64_t i = 0; i + 1 < size; i++) {
        if (lower[i] == 'i' && lower[i + 1] == 's') return 1;
        if (i + 2 < size && lower[i] == 'a' && lower[i + 1] == 'r' && lower[i + 2] == 'e') return 1;
    }
    return 0;
}

/* 1 and the word of a piece; 0 if none counts; -1 if the piece must be read in its text. */
static int read_piece(const Words *special, const uint8_t *piece, int64_t size, Word *out)
{
    if (size > PIECE) return -1;
    uint8_t lower[PIECE];
    for (int64_t i = 0; i < size; i++) {
        if (piece[i] == '`') return -1;
        lower[i] = lowered(piece[i]);
    }
    int64_t high = size, low = 0;
    while (high > 0 && closes(piece[high - 1])) high--;
    if (may_ask(special, lower, size, size - high)) return -1;
    while (low < high && opens(piece[low])) low++;
    if (low == high) return 0;
    int capital = 0, quoted = 0;
    for (int64_t i = low; i < high; i++) {
        if (i > low && lower[i] != piece[i]) capital = 1;
        if (piece[i] == '\'') quoted = 1;
    }
    if (!capital) {
        if (quoted) return -1;
        int32_t flags = flags_of(special, lower + low, high - low);
        if (flags & SEVERAL) return -1;
        if (flags & FILLER) return 0;
    }
    out->size = high - low;
    for (int64_t i = low; i < high; i++) out->text[i - low] = capital ? piece[i] : lower[i];
    return 1;
}

static void fill_table(uint32_t *table)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t c = n;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[n] = c;
    }
}

/* The CRC-32 of words, each on a line. */
static uint32_t mark_of(const uint32_t *table, const Word *words, int64_t count, int backwards)
{
    uint32_t c = 0xffffffffu;
    for (int64_t n = 0; n < count; n++) {
        const Word *word = words + (backwards ? count - 1 - n : n);
        if (n > 0) c = table[(c ^ '\n') & 255] ^ (c >> 8);
        for (int64_t i = 0; i < word->size; i++) c = table[(c ^ word->text[i]) & 255] ^ (c >> 8);
    }
    return c ^ 0xffffffffu;
}

static int is_plain(const uint8_t *text, int64_t size)
{
    if (size == 0 || !(is_letter(text[0]) || is_digit(text[0]))) return 0;
    for (int64_t i = 0; i < size; i++)
        if (text[i] == '\n' || (text[i] == '.' && i > 0 && text[i - 1] == '.')) return 0;
    return 1;
}

/* The first words of a text, or its last ones; 0 if there are none or it must be read otherwise. */
static int64_t outermost(const Words *special, const uint8_t *text, int64_t size, int64_t count,
                         int backwards, Word *words)
{
    int64_t known = 0, low = 0, high = size;
    while (known < count) {
        while (low < high && is_space(text[backwards ? high - 1 : low])) backwards ? high-- : low++;
        if (low == high) break;
        int64_t begin = low, end = high;
        while (low < high && !is_space(text[backwards ? high - 1 : low])) backwards ? high-- : low++;
        if (backwards) begin = high;
        else end = low;
        int read = read_piece(special, text + begin, end - begin, words + known);
        if (read < 0) return 0;
        known += read;
    }
    return known;
}

/* For each ASCII text the marks of its first and of its last words, two numbers; `known` is 0 for one
 * that must be read otherwise. */
API int64_t kernel_ends(const uint8_t *text, const int64_t *ends, int64_t texts, const uint8_t *blob,
                        const int64_t *at, const int32_t *flags, int64_t specials, int64_t count,
                        uint32_t *marks, uint8_t *known)
{
    Words special;
    words_begin(&special, blob, at, flags, specials);
    uint32_t table[256];
    Word words[WORDS];
    fill_table(table);
    if (count > WORDS) count = 0;
    int64_t begin = 0;
    for (int64_t each = 0; each < texts; begin = ends[each++]) {
        const uint8_t *own = text + begin;
        int64_t size = ends[each] - begin;
        known[each] = 0;
        if (!is_plain(own, size)) continue;
        for (int backwards = 0; backwards < 2; backwards++) {
            int64_t many = outermost(&special, own, size, count, backwards, words);
            if (many == 0) break;
            marks[2 * each + backwards] = mark_of(table, words, many, backwards);
            known[each] = (uint8_t)backwards;
        }
    }
    return texts;
}
