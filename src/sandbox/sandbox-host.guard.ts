import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { rawRequest } from '../http/parameters.js';

/** The option `hosts`, in lower case. The class is the DI token. */
export abstract class SandboxHosts {
  abstract readonly names: readonly string[];
}

/** An address of this machine itself, as a socket tells it. */
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/;

/** What the machine calls itself; no page of another site can have such an address in its URL (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Answers on a loopback address only to the names of this machine: a page of any site may have its own name resolve to
 * 127.0.0.1 (DNS rebinding), and a browser would let it read the codes. On any other address every name is answered, since
 * whoever reaches it can read them anyway.
 */
@Injectable()
export class SandboxHostGuard implements CanActivate {
  constructor(private readonly hosts: SandboxHosts) {}

  /** @throws MessagingError `error.sandbox_host_refused` */
  canActivate(context: ExecutionContext): boolean {
    const { headers, socket } = rawRequest(context);
    if (!LOOPBACK_ADDRESS.test(socket.localAddress ?? '')) return true;
    const name = nameOf(headers.host ?? headers[':authority']);
    if (LOOPBACK_NAME.test(name) || this.hosts.names.includes(name)) return true;
    throw new MessagingError('error.sandbox_host_refused');
  }
}

/** The name in a `Host` header (RFC 9110 section 7.2), in lower case and without the port. */
function nameOf(host: string | string[] | undefined): string {
  return String(host ?? '')
    .toLowerCase()
    .replace(/:\d+$/, '');
}
