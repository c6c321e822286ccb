import { LRUCache } from 'lru-cache';
import type { CarrierReceipt, OutgoingSms, SmsReport } from '../../../sms/sms-transport.js';
import type { SubmitAnswer } from '../session/submit-outcome.js';
import { statusClass, statusCode } from '../status-class.js';

const REMEMBERED = 10_000;

/**
 * Answers that come after their SMS was said to be `unknown`. A refusal for good is the proof that it was not sent; an id
 * is kept so that the receipt, which alone can still settle the SMS, finds it. Kept in memory, for as long as the process
 * lives.
 */
export class LateResults {
  /** Without the texts: nobody needs them any more. */
  private readonly byId = new LRUCache<string, Pick<OutgoingSms, 'smsId' | 'position' | 'number'>>({ max: REMEMBERED });

  /** @param report where a refusal is handed in */
  constructor(private readonly report: (report: SmsReport) => void) {}

  /** An answer to the only part of an SMS. */
  take({ smsId, position, number }: OutgoingSms, route: string, { status, messageId }: SubmitAnswer): void {
    if (status === 0 && messageId !== '') this.byId.set(keyOf(route, messageId), { smsId, position, number });
    if (status === 0 || statusClass(status) !== 'permanent') return;
    this.report({ smsId, position, status: 'failed', error: `smpp: ${statusCode(status)}` });
  }

  /** The report that a receipt is, when it is for such an SMS. */
  reportOf({ route, ids, number, status, error }: CarrierReceipt): SmsReport | undefined {
    for (const id of ids) {
      const sms = this.byId.get(keyOf(route, id));
      // Some carriers give everything the same id.
      if (!sms || (number !== undefined && number !== sms.number)) continue;
      return { smsId: sms.smsId, position: sms.position, status, ...(error === undefined ? {} : { error }) };
    }
    return undefined;
  }
}

function keyOf(route: string, id: string): string {
  return `${route}\n${id}`;
}
