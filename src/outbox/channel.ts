import { Injectable } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { DeliveryResult, ResultPolicy } from './delivery-result.js';
import type { Delivery } from './outbox-store.js';

/** A text to one number whose price is asked for. */
export interface DraftRequest {
  readonly accountId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly text: string;
  /** The sender name that is asked for, where the channel has such; undefined: the channel's own choice. */
  readonly signature?: string | undefined;
  /** The host's transaction that it will be part of. */
  readonly host?: HostTransaction | undefined;
}

/** How a text would be sent, and for how much. */
export interface Draft {
  /** Signature or sending number. */
  readonly sender: string;
  readonly lane?: string;
  /** Integer, at least 0. */
  readonly units: number;
}

/** A channel as those see it who have something to say on any channel. */
export interface CodeChannel {
  readonly name: string;
  /** @throws MessagingError when the channel cannot send it */
  draft(request: DraftRequest): Promise<Draft>;
}

/**
 * What became of some deliveries of a batch, told while the others are still under way: it is stored at once. What the list
 * at the end says of them no longer counts. Resolves when it is stored or cannot be, and never rejects.
 */
export type EarlyAnswers = (answers: ReadonlyMap<Delivery, DeliveryResult>) => Promise<void>;

/** A way out of the process, by name; SMS is one, each messaging-app channel another. */
export abstract class Channel implements ResultPolicy {
  abstract readonly name: string;
  abstract readonly repeat: ResultPolicy['repeat'];
  abstract readonly timing: ResultPolicy['timing'];

  /**
   * Prices a text to one number. A channel without it does not carry one-time passcodes.
   * @throws MessagingError when the channel cannot send it
   */
  draft?(request: DraftRequest): Promise<Draft>;

  /** Opens what `deliver` needs. */
  abstract start(): Promise<void>;
  /**
   * Hands a batch over; one answer for each delivery, in order. A throw counts as `unknown` for all that were not answered
   * early.
   */
  abstract deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: EarlyAnswers,
  ): Promise<readonly DeliveryResult[]>;
  /** The lanes that this process may serve now; undefined: deliveries without a lane. */
  abstract lanes(): readonly string[] | undefined;
  /** Closes what `start` opened. */
  abstract stop(): Promise<void>;
}

/** The channels of an application; a capability registers its own when it is made. */
@Injectable()
export class Channels {
  private readonly byName = new Map<string, Channel>();

  /** @throws MessagingOptionsError when a channel of that name is registered already */
  register(channel: Channel): void {
    if (this.byName.has(channel.name)) {
      throw new MessagingOptionsError(`There are two channels named "${channel.name}": give each a name of its own.`);
    }
    this.byName.set(channel.name, channel);
  }

  all(): readonly Channel[] {
    return [...this.byName.values()];
  }

  find(name: string): Channel | undefined {
    return this.byName.get(name);
  }
}
