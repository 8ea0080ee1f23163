/* SPDX-License-Identifier: Apache-2.0
 *
 * What the test doubles of device libraries have in common: they write down every call, and fail on
 * request. Included by one source file of each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text;
static size_t text_size;
static char failing[64];
static int failure;
static long calls_until_failure; /* 0: none is to come */
static __thread char report[256];

static void note(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&lock);
  size_t length = strlen(line);
  text = realloc(text, text_size + length + 2);
  memcpy(text + text_size, line, length);
  text_size += length;
  text[text_size++] = '\n';
  text[text_size] = '\0';
  pthread_mutex_unlock(&lock);
}

/* All calls since fake_reset, one a line. */
const char *fake_log(void) { return text == NULL ? "" : text; }

void fake_reset(void) {
  pthread_mutex_lock(&lock);
  text_size = 0;
  if (text != NULL)
    text[0] = '\0';
  failing[0] = '\0';
  calls_until_failure = 0;
  pthread_mutex_unlock(&lock);
}

/* The next call of a function fails. */
void fake_fail_next(const char *function, int error) {
  snprintf(failing, sizeof failing, "%s", function);
  failure = error;
}

/* The n-th call from now on fails, whichever it is; tells whether the one before was made. */
int fake_fail_nth(long n, int error) {
  const int made = calls_until_failure <= 0;
  calls_until_failure = n;
  failure = error;
  return made;
}

static int outcome(const char *function) {
  report[0] = '\0';
  const int named = strcmp(function, failing) == 0;
  const int counted = calls_until_failure > 0 && --calls_until_failure == 0;
  if (!named && !counted)
    return 0;
  if (named)
    failing[0] = '\0';
  snprintf(report, sizeof report, "kernel.py:17: out of bounds write by block (3, 0, 0), lane 5");
  return failure;
}
