import { Injectable } from '@nestjs/common';
import type { HandOff, HandOffPolicy } from './hand-off.js';
import type { Delivery } from './outbox-store.js';

/** A way out of the process, by name; SMS is one, each messaging-app channel another. */
export abstract class Channel implements HandOffPolicy {
  abstract readonly name: string;
  abstract readonly repeat: HandOffPolicy['repeat'];
  abstract readonly timing: HandOffPolicy['timing'];

  /** Opens what `deliver` needs. */
  abstract start(): Promise<void>;
  /** Hands a batch over; one answer for each delivery, in order. A throw counts as `unknown` for all of them. */
  abstract deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly HandOff[]>;
  /** The lanes that this process may serve now; undefined: deliveries without a lane. */
  abstract lanes(): readonly string[] | undefined;
  /** Closes what `start` opened. */
  abstract stop(): Promise<void>;
}

/** The channels of an application; a capability registers its own when it is made. */
@Injectable()
export class Channels {
  private readonly byName = new Map<string, Channel>();

  /** @throws Error when a channel of that name is registered already */
  register(channel: Channel): void {
    if (this.byName.has(channel.name)) throw new Error(`There are two channels named "${channel.name}".`);
    this.byName.set(channel.name, channel);
  }

  all(): readonly Channel[] {
    return [...this.byName.values()];
  }

  find(name: string): Channel | undefined {
    return this.byName.get(name);
  }
}
