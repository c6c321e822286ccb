/*
 * Preloaded into OsmoMSC, which gives up at start on a kernel without SCTP: who asks for an SCTP socket gets a TCP one.
 * That is its way to the base stations, of which there are none here; SMPP is TCP anyhow and not touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

int socket(int domain, int type, int protocol) {
  int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
  if (protocol != IPPROTO_SCTP) return real(domain, type, protocol);
  return real(domain, SOCK_STREAM | (type & (SOCK_NONBLOCK | SOCK_CLOEXEC)), IPPROTO_TCP);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  int (*real)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
  return level == IPPROTO_SCTP ? 0 : real(fd, level, option, value, length);
}
