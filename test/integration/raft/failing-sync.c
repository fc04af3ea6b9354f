/*
 * Loaded before the system's library: while the file named by CEP_FAILING_SYNC exists, nothing becomes durable; while that named by
 * CEP_SLOW_SYNC does, everything takes half a second until it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int is_on(const char *variable) {
  const char *switch_path = getenv(variable);
  return switch_path != NULL && access(switch_path, F_OK) == 0;
}

static int fails(void) {
  if (is_on("CEP_SLOW_SYNC")) usleep(500000);
  return is_on("CEP_FAILING_SYNC");
}

int fdatasync(int file) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  if (!fails()) return next(file);
  errno = EIO;
  return -1;
}

/* Of a file whose writes are durable when they return. */
static int fails_to_write(int file) {
  return (fcntl(file, F_GETFL) & O_DSYNC) != 0 && fails();
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
  ssize_t (*next)(int, const void *, size_t, off64_t) = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  if (!fails_to_write(file)) return next(file, bytes, length, at);
  errno = EIO;
  return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
  ssize_t (*next)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if (!fails_to_write(file)) return next(file, bytes, length, at);
  errno = EIO;
  return -1;
}
