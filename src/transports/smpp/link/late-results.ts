import { LRUCache } from 'lru-cache';
import { atMost } from '../../../common/concurrency/at-most.js';
import { mayBeSpellings } from '../../../sms/receipts/sms-part.js';
import type { CarrierReceipt, OutgoingSms, SmsReport } from '../../../sms/sms-transport.js';
import type { SubmitAnswer } from '../bind/submit-outcome.js';
import { statusCode } from '../command-status.js';

const MAX_MESSAGES = 10_000;

/**
 * Answers that arrive after their SMS was reported as `unknown`. If a refusal proves that the SMS was not sent, it is reported.
 * If the answer has an id, the id is kept in memory, because only a receipt can change the status now, and the receipt names the
 * id.
 */
export class LateResults {
  /** The messages by route and carrier's id, without their texts. */
  private readonly byId = new LRUCache<string, Pick<OutgoingSms, 'smsId' | 'position' | 'number'>>(
    atMost(MAX_MESSAGES),
  );

  /** @param report stores a refusal */
  constructor(private readonly report: (report: SmsReport) => void) {}

  /**
   * Takes the answer to an SMS of one part.
   * @param isRefused whether the answer proves that the carrier did not accept the SMS
   */
  take(
    { smsId, position, number }: OutgoingSms,
    route: string,
    { status, messageId }: SubmitAnswer,
    isRefused: boolean,
  ): void {
    const id = messageId.trim();
    if (status === 0 && id !== '') this.byId.set(keyOf(route, id), { smsId, position, number });
    if (!isRefused) return;
    this.report({ smsId, position, status: 'failed', error: `smpp: ${statusCode(status)}` });
  }

  /** Returns the report of a receipt. Undefined if the receipt belongs to no SMS with a late answer. */
  reportOf({ route, ids, number, otherNumber, status, error }: CarrierReceipt): SmsReport | undefined {
    for (const id of ids) {
      const sms = this.byId.get(keyOf(route, id));
      // The number is compared, because some carriers give all messages the same id.
      const isMeant = (each: string | undefined) =>
        each === sms?.number || mayBeSpellings(each ?? '', sms?.number ?? '');
      if (!sms || !(number === undefined || isMeant(number) || isMeant(otherNumber))) continue;
      return { smsId: sms.smsId, position: sms.position, status, ...(error === undefined ? {} : { error }) };
    }
    return undefined;
  }
}

function keyOf(route: string, id: string): string {
  return `${route}\n${id}`;
}
