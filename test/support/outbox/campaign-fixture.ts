import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { Channel, type StoreEarlyResults } from '../../../src/outbox/channel.js';
import { DEFAULT_TIMING, type DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import { type DispatchOptions, resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { ChannelWorker } from '../../../src/outbox/delivery/worker.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';
import type { OutgoingSms, ReportResult, SmsTransport } from '../../../src/sms/sms-transport.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../common/settled.js';
import { NoDatabase } from '../mounting/no-database.js';
import { ChosenIds } from './chosen-ids.js';
import { QueueDouble } from './queue-double.js';

/** The way in which a channel of these tests handles its batches. */
export type Carry = Pick<SmsTransport, 'submit' | 'capacity'>;

/** Hands deliveries to a transport as the SMS channel does, and stores each result as soon as it is reported. */
class CarryingChannel extends Channel {
  override readonly name = 'sms';
  override readonly repeat = 'at-most-once';
  override readonly timing = { ...DEFAULT_TIMING, leaseMs: 600_000 };

  constructor(private readonly carry: Carry) {
    super();
  }

  override async start(): Promise<void> {}

  override deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    early: StoreEarlyResults,
  ): Promise<readonly DeliveryResult[]> {
    const deliveries = new Map(batch.map((delivery) => [smsOf(delivery), delivery]));
    const report: ReportResult = (sms, result) => {
      const delivery = deliveries.get(sms);
      if (delivery) void early(new Map([[delivery, result]]));
    };
    return this.carry.submit([...deliveries.keys()], signal, report);
  }

  override capacity(): number | undefined {
    return this.carry.capacity?.();
  }

  override lanes(): undefined {
    return undefined;
  }

  override async stop(): Promise<void> {}
}

function smsOf({ messageId, position, sender, number, attempt, priority, payload }: Delivery): OutgoingSms {
  return { smsId: messageId, position, signature: sender, number, attempt, priority, text: String(payload.text) };
}

/** A worker between a queue in memory and a carrier, on the test's clock. */
export class CampaignFixture {
  readonly queue = new QueueDouble(new NoDatabase());
  readonly worker: ChannelWorker;
  /** The maximum number of deliveries at a time that were claimed and had no result yet. */
  maxHeld = 0;

  constructor(
    readonly clock: FakeClock,
    carry: Carry,
    options: DispatchOptions = {},
  ) {
    const outbox = new Outbox(this.queue, new LocalNotifier(), new MessagingEvents());
    const settings = resolveDispatchSettings({ shutdownMs: 0, ...options });
    const rounds = new Rounds(clock);
    this.worker = new ChannelWorker(
      new CarryingChannel(carry),
      this.queue,
      outbox,
      settings,
      clock,
      new ChosenIds(),
      rounds,
    );
  }

  /** Deliveries that were claimed and have no result yet. */
  get held(): number {
    return this.queue.claimed - this.queue.done.length - this.queue.putBack.length;
  }

  async close(): Promise<void> {
    const stopped = this.worker.stop();
    await this.pass(1000);
    await stopped;
  }

  async pass(ms: number, step = 10): Promise<void> {
    await this.until(() => false, ms, step);
  }

  /**
   * Advances the clock until the condition is true, for this many milliseconds at most. Returns how many there were.
   */
  async until(isSo: () => boolean, maxMs = 3_600_000, step = 10): Promise<number> {
    const begun = this.clock.elapsed();
    await settled(4);
    while (!isSo() && this.clock.elapsed() - begun < maxMs) {
      this.clock.advance(step);
      await settled(4);
      this.maxHeld = Math.max(this.maxHeld, this.held);
    }
    return this.clock.elapsed() - begun;
  }
}
