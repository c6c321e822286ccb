/** Where a program on this machine reaches a server that listens on `host`. */
export function baseUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (!host.includes(':')) return `http://${host}:${port}`;
  // IPv6: in brackets, and all addresses of the machine (`::`, however it is written) are none to call.
  return `http://[${/[^0:]/.test(host) ? host : '::1'}]:${port}`;
}
