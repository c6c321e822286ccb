import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { StorageUnavailableError } from '../common/errors.js';
import { ImportsModules } from '../core/port-provider.js';
import { type OutgoingSms, type SmsSink, SmsTransport, type SubmitResult } from '../sms/sms-transport.js';
import { SANDBOX_TIMING, type SandboxBehaviour, sandboxBehaviour } from './magic-numbers.js';
import { PhoneReplies } from './phones/phone-replies.js';
import { type PhoneDelivery, PhoneStore } from './phones/phone-store.js';
import { SandboxPhones } from './phones/sandbox-phones.js';
import { ignoreUnavailable, SandboxFeed } from './sandbox-feed.js';

/** Results name a route, so that attempts look like attempts with a real carrier. */
const ROUTE = { route: 'sandbox' } as const;

const RESULTS: Readonly<Record<SandboxBehaviour, SubmitResult>> = {
  delivered: { kind: 'sent', final: 'delivered', ...ROUTE },
  refused: { kind: 'refused', error: 'sandbox: refused', ...ROUTE },
  busy: { kind: 'retry', error: 'sandbox: temporary error', ...ROUTE },
  silent: { kind: 'sent', ...ROUTE },
  undelivered: { kind: 'sent', final: 'undelivered', error: 'sandbox: undelivered', ...ROUTE },
};

/**
 * The embedded default carrier. It needs no account and no network. A delivered message is kept by the sandbox phone of its
 * number. If a magic number refuses or loses a message or leaves it undelivered, the message does not reach a phone and is kept
 * for the page only.
 */
@Injectable()
@ImportsModules(SandboxPhones)
export class SandboxSmsTransport extends SmsTransport {
  override readonly name = 'sandbox';

  /** Repeats are idempotent, because a phone stores a message with the same id only once. */
  override readonly repeat = 'idempotent';

  override readonly timing = SANDBOX_TIMING;

  constructor(
    private readonly phones: PhoneStore,
    private readonly feed: SandboxFeed,
    private readonly clock: Clock,
    private readonly replies: PhoneReplies,
  ) {
    super();
  }

  override async start(sink: SmsSink): Promise<void> {
    this.replies.carryTextsTo(sink);
  }

  /**
   * Stores the SMS that arrive in one write, and those that do not arrive in another. If the phone store is unavailable, the
   * deliveries that would have arrived are retried.
   */
  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    const behaviours = batch.map((sms) => sandboxBehaviour(sms.number, sms.attempt));
    const at = this.clock.now();
    const arriving = batch.filter((_, index) => behaviours[index] === 'delivered').map((sms) => asShown(sms, at));
    const lost = batch.filter((_, index) => behaviours[index] !== 'delivered').map((sms) => asShown(sms, at));
    const results = behaviours.map((behaviour) => RESULTS[behaviour]);
    await this.lose(lost);
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

  /**
   * Stores lost messages for the page. Errors are ignored, because the result of a delivery does not depend on whether the page
   * can show it.
   */
  private async lose(lost: readonly PhoneDelivery[]): Promise<void> {
    if (lost.length === 0) return;
    await this.phones.lose(lost).catch(ignoreUnavailable);
    this.feed.change();
  }

  override async stop(): Promise<void> {}
}

const PHONES_AWAY: SubmitResult = { kind: 'retry', error: 'sandbox: the phones do not answer', ...ROUTE };

function asShown(sms: OutgoingSms, receivedAt: number): PhoneDelivery {
  return {
    messageId: sms.smsId,
    channel: 'sms',
    from: sms.signature,
    to: sms.number,
    text: sms.text,
    media: undefined,
    receivedAt,
    position: sms.position,
  };
}
