/** Returns the URL at which a program on this machine reaches a server that listens on `host`. */
export function baseUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (!host.includes(':')) return `http://${host}:${port}`;
  // An IPv6 address needs brackets. `::`, however it is written, means all addresses and cannot be called.
  return `http://[${/[^0:]/.test(host) ? host : '::1'}]:${port}`;
}
