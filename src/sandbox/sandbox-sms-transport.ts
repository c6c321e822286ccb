import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { StorageUnavailableError } from '../common/errors.js';
import { type DeliveryTiming, type OutgoingSms, SmsTransport, type SubmitResult } from '../sms/sms-transport.js';
import { type SandboxBehaviour, sandboxBehaviour } from './magic-numbers.js';
import { type PhoneMessage, PhoneStore } from './phone-store.js';
import { SandboxFeed } from './sandbox-feed.js';

/** With the route, so that attempts are shown as a carrier's are. */
const ROUTE = { route: 'sandbox' } as const;

const RESULTS: Readonly<Record<SandboxBehaviour, SubmitResult>> = {
  delivered: { kind: 'sent', final: 'delivered', ...ROUTE },
  refused: { kind: 'refused', error: 'sandbox: refused', ...ROUTE },
  busy: { kind: 'retry', error: 'sandbox: temporary error', ...ROUTE },
  silent: { kind: 'sent', ...ROUTE },
  undelivered: { kind: 'sent', final: 'undelivered', error: 'sandbox: undelivered', ...ROUTE },
};

/**
 * The embedded default carrier: no account, no network. What is delivered is kept by the sandbox phone of its number;
 * what the magic numbers refuse, lose or leave undelivered never shows there.
 */
@Injectable()
export class SandboxSmsTransport extends SmsTransport {
  override readonly name = 'sandbox';

  /** A phone keeps one message of one id, however often it comes. */
  override readonly repeat = 'idempotent';

  /** Quick, so that all three attempts at a `…990002` fit into 5 s and a crash is forgotten after 10 s. */
  override readonly timing: Partial<DeliveryTiming> = {
    leaseMs: 10_000,
    reportDeadlineMs: 10_000,
    retryBaseMs: 500,
    retryMaxMs: 1_000,
  };

  constructor(
    private readonly phones: PhoneStore,
    private readonly clock: Clock,
    private readonly feed: SandboxFeed,
  ) {
    super();
  }

  override async start(): Promise<void> {}

  /** One write for the whole batch. When the phones' database does not answer, what they should have got is to be tried again. */
  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const fates = batch.map((sms) => sandboxBehaviour(sms.number, sms.attempt));
    const receivedAt = this.clock.now();
    const arriving = batch.filter((_, at) => fates[at] === 'delivered').map((sms) => asShown(sms, receivedAt));
    const results = fates.map((fate) => RESULTS[fate]);
    if (arriving.length === 0) return results;
    try {
      await this.phones.receive(arriving);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      return results.map((result) => (result === RESULTS.delivered ? PHONES_AWAY : result));
    }
    this.feed.publish(arriving);
    return results;
  }

  override async stop(): Promise<void> {}
}

const PHONES_AWAY: SubmitResult = { kind: 'retry', error: 'sandbox: the phones do not answer', ...ROUTE };

function asShown(sms: OutgoingSms, receivedAt: number): PhoneMessage {
  return {
    messageId: sms.smsId,
    channel: 'sms',
    from: sms.signature,
    to: sms.number,
    text: sms.text,
    media: undefined,
    receivedAt,
  };
}
