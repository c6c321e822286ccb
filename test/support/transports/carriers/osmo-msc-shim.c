/*
 * Preloaded into OsmoMSC. It gives up at start on a kernel without SCTP: who asks for an SCTP socket gets a TCP one. That is
 * its way to the base stations, of which there are none here; SMPP is TCP anyhow and not touched.
 *
 * It also gives up when one of its fixed ports is in use, of which its configuration cannot change all (CTRL, 4255): whatever
 * it binds but KEPT_PORT, which is SMPP's, gets a port that is free. Nobody here speaks to the others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
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

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
  const char *kept = getenv("KEPT_PORT");
  struct sockaddr_in free_port;
  if (address->sa_family != AF_INET || length < sizeof free_port) return real(fd, address, length);
  memcpy(&free_port, address, sizeof free_port);
  if (kept == NULL || ntohs(free_port.sin_port) != atoi(kept)) free_port.sin_port = 0;
  return real(fd, (struct sockaddr *)&free_port, sizeof free_port);
}
