// Passes frames between two interfaces, each of them 5 to 60 ms later, so that they overtake each other, and one in fifty twice.
// Usage: unsteady-link INTERFACE INTERFACE, until it is ended.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES_MAX = 70000, WAITING_MAX = 4096, DELAY_MS_MIN = 5, DELAY_MS_MAX = 60, TWICE_ONE_IN = 50 };

struct frame {
  int to;
  long due_us;
  ssize_t size;
  char *bytes;
};

static struct frame waiting[WAITING_MAX];
static int count = 0;

static long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static int open_interface(const char *name) {
  int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
  int on = 1;
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = if_nametoindex(name)};
  struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
  // Frames whose checksum or pieces are still to be made carry a header that says so.
  if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) < 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) < 0 ||
      bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    perror(name);
    exit(1);
  }
  return fd;
}

static void keep(int to, const char *bytes, ssize_t size) {
  if (count == WAITING_MAX) return; // As a queue that is full.
  struct frame *frame = &waiting[count++];
  frame->to = to;
  frame->size = size;
  frame->due_us = now_us() + 1000L * DELAY_MS_MIN + random() % (1000L * (DELAY_MS_MAX - DELAY_MS_MIN));
  frame->bytes = malloc(size);
  memcpy(frame->bytes, bytes, size);
}

static void take(int from, int to) {
  static char bytes[BYTES_MAX];
  struct sockaddr_ll sender;
  socklen_t length = sizeof sender;
  ssize_t size = recvfrom(from, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
  if (size <= 0 || sender.sll_pkttype == PACKET_OUTGOING) return;
  keep(to, bytes, size);
  if (random() % TWICE_ONE_IN == 0) keep(to, bytes, size);
}

// Sends what is due; gives the time until the next one is, ms.
static int pass(void) {
  long now = now_us(), next_us = 1000000;
  for (int at = 0; at < count;) {
    struct frame *frame = &waiting[at];
    if (frame->due_us > now) {
      if (frame->due_us - now < next_us) next_us = frame->due_us - now;
      at++;
      continue;
    }
    // What does not get through is lost, as on any link.
    if (write(frame->to, frame->bytes, frame->size) < 0) perror("write");
    free(frame->bytes);
    *frame = waiting[--count];
  }
  return (int)((next_us + 999) / 1000);
}

int main(int arguments, char **argument) {
  if (arguments != 3) return 2;
  struct pollfd ends[2] = {{.fd = open_interface(argument[1]), .events = POLLIN}, {.fd = open_interface(argument[2]), .events = POLLIN}};
  srandom(now_us());
  puts("ready");
  fflush(stdout);
  for (;;) {
    poll(ends, 2, pass());
    for (int at = 0; at < 2; at++)
      if (ends[at].revents & POLLIN) take(ends[at].fd, ends[1 - at].fd);
  }
}
