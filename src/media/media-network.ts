import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';

/** The only ways by which the fetcher leaves the process. Tests put their own in its place and count. */
export abstract class MediaNetwork {
  /** PEM certificates to trust in place of those that Node comes with. */
  readonly authorities: readonly string[] | undefined = undefined;

  /** Every address that a name has now, the one to try first in front. */
  abstract resolve(host: string): Promise<readonly string[]>;

  /** Starts to connect. The address is dialled as it is; nothing is looked up. */
  abstract dial(address: string, port: number): Socket;
}

/** The machine's resolver and network, without proxies. */
@Injectable()
export class SystemNetwork extends MediaNetwork {
  override async resolve(host: string): Promise<readonly string[]> {
    // Few hosts are on IPv6 only, and many machines have IPv6 addresses that lead nowhere.
    const found = await lookup(host, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  }

  override dial(address: string, port: number): Socket {
    return connect({ host: address, port, noDelay: true });
  }
}
