/* Loaded before the system's library: while the file named by CEP_FAILING_SYNC exists, nothing becomes durable. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int fails(void) {
  const char *switch_path = getenv("CEP_FAILING_SYNC");
  return switch_path != NULL && access(switch_path, F_OK) == 0;
}

int fdatasync(int file) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  if (!fails()) return next(file);
  errno = EIO;
  return -1;
}
