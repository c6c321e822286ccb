import { Injectable } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { DeliveryResult, ResultPolicy } from './delivery/delivery-result.js';
import type { Delivery } from './outbox-records.js';

/** A text to one number whose price is asked for. */
export interface DraftRequest {
  readonly accountId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly text: string;
  /** The wanted sender name, on channels that have sender names; undefined: the channel chooses. */
  readonly signature?: string | undefined;
  /** The host's open transaction that will store the send. */
  readonly host?: HostTransaction | undefined;
}

/** The sender and the price of a text. */
export interface Draft {
  /** Signature or sending number. */
  readonly sender: string;
  /** See `Send.lane`. */
  readonly lane?: string;
  /** The price, an integer of at least 0. */
  readonly units: number;
}

/** A channel that carries a text to one number. */
export interface TextChannel {
  readonly name: string;
  /** @throws MessagingError if the channel cannot send it */
  draft(request: DraftRequest): Promise<Draft>;
}

/**
 * Stores results of some deliveries of a batch while the others are still in progress. The results of these deliveries
 * in the list that `deliver` returns are then ignored. Resolves when the results are stored or cannot be stored, and
 * never rejects.
 */
export type StoreEarlyResults = (results: ReadonlyMap<Delivery, DeliveryResult>) => Promise<void>;

/** Delivers messages of one kind; SMS is a channel, and so is each messaging app. Extend it to add another one. */
export abstract class Channel implements ResultPolicy {
  abstract readonly name: string;
  abstract readonly repeat: ResultPolicy['repeat'];
  abstract readonly timing: ResultPolicy['timing'];
  /** True: its messages stay on the sandbox and reach no phone. Default false. */
  readonly isSandbox?: boolean;

  /**
   * Prices a text to one number. A channel without this method is not a `TextChannel`.
   * @throws MessagingError if the channel cannot send it
   */
  draft?(request: DraftRequest): Promise<Draft>;

  /**
   * Opens connections and other resources that `deliver` needs.
   *
   * @param wake ends the wait of this process's worker. Call it after `lanes` has changed
   */
  abstract start(wake: () => void): Promise<void>;
  /**
   * Submits a batch to the carrier.
   *
   * @param signal aborted when the process shuts down
   * @param early stores results before the batch ends
   * @returns one result for each delivery, in their order. If it throws, deliveries without an early result become
   * `unknown`
   */
  abstract deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: StoreEarlyResults,
  ): Promise<readonly DeliveryResult[]>;
  /**
   * The lanes that this process may serve now. A channel whose deliveries have no lanes always returns undefined. It is
   * also called before `start`.
   *
   * `GET /me` lists every channel with lanes as a messaging app (`capabilities.msgapp`), and the dashboard shows its
   * screen of numbers. A channel without lanes is in `capabilities` only after an entry of its own in `CapabilitiesView`
   * and `MeService`, and `ScreenEntry.capability` of the dashboard names what a screen may ask for.
   */
  abstract lanes(): readonly string[] | undefined;
  /**
   * How many more deliveries the channel can hand over within the next 250 ms, besides those that it already has. If it
   * has none, it returns at least 1, unless it knows that nothing can be handed over in this time. A worker does not
   * claim more at a time, so the others stay in the storage in the order of their priorities. It is called several
   * times a second. If it returns undefined, or without this method, only the options `batchSize` and `concurrency`
   * limit the claims.
   */
  capacity?(): number | undefined;
  /** Releases the resources that `start` has opened. */
  abstract stop(): Promise<void>;
}

/** The channels of an application. Each capability registers its own when Nest creates it. */
@Injectable()
export class Channels {
  private readonly byName = new Map<string, Channel>();
  private wrap = (channel: Channel): Channel => channel;

  /** @throws MessagingOptionsError if a channel with the same name is already registered */
  register(channel: Channel): void {
    if (this.byName.has(channel.name)) {
      throw new MessagingOptionsError(`There are two channels named "${channel.name}": give each a name of its own.`);
    }
    this.byName.set(channel.name, channel);
  }

  /**
   * Wraps all channels, so that their deliveries are observed. Call it before the start.
   * @internal
   */
  observe(wrap: (channel: Channel) => Channel): void {
    this.wrap = wrap;
  }

  /** Returns the channel that workers use: the wrapped one, if it is observed. */
  observed(channel: Channel): Channel {
    return this.wrap(channel);
  }

  all(): readonly Channel[] {
    return [...this.byName.values()];
  }

  /** Returns the channels of one class. */
  ofType<T extends Channel>(type: abstract new (...args: never[]) => T): readonly T[] {
    return this.all().filter((channel): channel is T => channel instanceof type);
  }

  find(name: string): Channel | undefined {
    return this.byName.get(name);
  }
}
