import { Injectable, Optional } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { mountedRoutes } from '../../http/mounted-routes.js';
import { hostOf, isLoopbackAddress, portOf } from '../../media/address-guard.js';
import { WebhookTargets } from '../../webhooks/endpoints/webhook-targets.js';

/** The path under which the sandbox's routes are mounted, without slashes at its ends. The class is the DI token. */
export abstract class SandboxPath {
  abstract readonly path: string;
}

/** A name of an inbox, at the end of its path. */
export const HOOK_NAME = /^[\w-]{1,64}$/;

/**
 * Allows webhooks to call the sandbox's inboxes on this server's own loopback address, and no other path there. Otherwise anybody
 * with a key could call any route of this machine.
 */
@Injectable()
export class HookTarget {
  private readonly isMounted: boolean;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly place: SandboxPath,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    @Optional() targets?: WebhookTargets,
  ) {
    this.isMounted = targets !== undefined;
    targets?.allow((url) => this.addressesOf(url));
  }

  /** The origin at which webhooks can be called. Undefined if this server has no loopback address, or no webhooks. */
  get origin(): string | undefined {
    const address = this.isMounted ? this.loopback() : undefined;
    return address && `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
  }

  private addressesOf(url: URL): readonly string[] | undefined {
    const address = this.loopback();
    const host = hostOf(url);
    const isOurs = url.protocol === 'http:' && portOf(url) === address?.port;
    if (!isOurs || !(host === 'localhost' || isLoopbackAddress(host))) return undefined;
    const { inboxes } = this;
    const isInbox = inboxes !== undefined && url.pathname.startsWith(inboxes);
    return isInbox && HOOK_NAME.test(url.pathname.slice(inboxes.length)) ? [address.host] : undefined;
  }

  /** The path of the inboxes as the host has mounted it: with the host's prefix, without a name, and with a slash at the end. */
  private get inboxes(): string | undefined {
    const end = `/${this.place.path}/hooks/`;
    const routes = mountedRoutes(this.modules, this.config);
    const inbox = routes.find(({ method, path }) => method === 'POST' && path.endsWith(`${end}:name`));
    return inbox?.path.slice(0, -':name'.length);
  }

  private loopback(): { readonly host: string; readonly port: number } | undefined {
    const address: unknown = this.host.httpAdapter?.getHttpServer()?.address?.();
    if (!isAddress(address)) return undefined;
    const { port } = address;
    if (isLoopbackAddress(address.address)) return { host: address.address, port };
    return /^(0\.0\.0\.0|::)$/.test(address.address) ? { host: '127.0.0.1', port } : undefined;
  }
}

function isAddress(value: unknown): value is { readonly address: string; readonly port: number } {
  return typeof value === 'object' && value !== null && 'address' in value && 'port' in value;
}
