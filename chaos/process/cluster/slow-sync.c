// Loaded before a process begins: what it syncs takes as many ms longer as a file says, as on a disk that is slow.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_as_told(void) {
  const char *path = getenv("CEP_CHAOS_SLOW_SYNC");
  FILE *file = path ? fopen(path, "r") : NULL;
  int ms = 0;
  if (!file) return;
  if (fscanf(file, "%d", &ms) == 1) usleep(ms * 1000);
  fclose(file);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  wait_as_told();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  wait_as_told();
  return real(fd);
}
