import type { IncomingMessage } from 'node:http';
import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { rawRequest } from '../http/parameters.js';

/** The option `hosts`, in lower case. The class is the DI token. */
export abstract class SandboxHosts {
  abstract readonly names: readonly string[];
}

/** A loopback address as a socket reports it. */
const LOOPBACK_ADDRESS = /^(::ffff:)?127\.|^::1$/;

/** Names of this machine. The URL of a page of another site cannot contain one of them (RFC 6761 section 6.3). */
const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Refuses requests on a loopback address if their `Host` is not a name of this machine. Any site can let its own name resolve to
 * 127.0.0.1 (DNS rebinding), and the browser would then let a page of that site read the codes. Requests on other addresses are
 * always accepted, because a client that reaches such an address can read the codes anyway.
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

/** Headers in which proxies say that a request comes from elsewhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether a request comes from this machine, names this machine as its host, and has no header of a proxy. The names of the
 * option `hosts` do not count, because they are names of a proxy.
 */
export function isLocal({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  const addresses = [socket.localAddress, socket.remoteAddress];
  return (
    addresses.every((address) => LOOPBACK_ADDRESS.test(address ?? '')) &&
    LOOPBACK_NAME.test(nameOf(headers.host ?? headers[':authority'])) &&
    !FORWARDED.some((name) => name in headers)
  );
}

/** Whether the request is local, see {@link isLocal}. */
export const IsLocal = createParamDecorator((_data: unknown, context: ExecutionContext): boolean =>
  isLocal(rawRequest(context)),
);

/** Returns the name in a `Host` header (RFC 9110 section 7.2), in lower case and without the port. */
function nameOf(host: string | string[] | undefined): string {
  return String(host ?? '')
    .toLowerCase()
    .replace(/:\d+$/, '');
}

/**
 * Refuses requests that a page of another origin sends, because the sandbox's routes ask for no key. Browsers say where a request
 * comes from in `Sec-Fetch-Site`, and older browsers in `Origin`. Programs send neither and are accepted.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  /** @throws MessagingError `error.sandbox_cross_site` */
  canActivate(context: ExecutionContext): boolean {
    const { headers } = rawRequest(context);
    const site = headers['sec-fetch-site'];
    const { origin } = headers;
    const host = headers.host ?? headers[':authority'];
    if (site === undefined ? origin === undefined || hostOf(origin) === host : site === 'same-origin') return true;
    throw new MessagingError('error.sandbox_cross_site');
  }
}

/** Returns the host and port of an origin. Undefined for `null` and for a text that is not an origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
