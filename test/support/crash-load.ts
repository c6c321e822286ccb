import { setTimeout as pause } from 'node:timers/promises';
import { phoneOf, sendSms } from './sms-client.js';

/** An answer 200: what it said, byte for byte. */
export interface AnsweredSend {
  readonly text: string;
  readonly smsId: string;
}

/**
 * Clients that send without end, each under Idempotency-Keys of its own, and repeat with the same key whatever got no
 * answer or a 503: what a careful client does. Any other answer than 200, 409 and 503 is kept as a surprise.
 */
export class CrashLoad {
  /** By Idempotency-Key. */
  readonly answered = new Map<string, AnsweredSend>();
  readonly surprises: string[] = [];
  /** Requests that got no answer, or a 503. */
  unanswered = 0;
  private going = true;
  private readonly clients: Promise<void>[];

  constructor(
    private readonly host: { readonly url: string },
    private readonly key: string,
    clients: number,
  ) {
    this.clients = Array.from({ length: clients }, (_, index) => this.client(index));
  }

  /** Lets every client finish the send it is at. */
  async finish(): Promise<void> {
    this.going = false;
    await Promise.all(this.clients);
  }

  private async client(index: number): Promise<void> {
    for (let count = 0; this.going; count++) await this.send(`key-${index}-${count}`, index * 10_000 + count);
  }

  private async send(once: string, phone: number): Promise<void> {
    while (!this.answered.has(once) && this.surprises.length === 0) {
      try {
        const { status, text, body } = await sendSms(
          { url: this.host.url, key: this.key },
          { once, number: [phoneOf(phone)] },
        );
        if (status === 200) this.answered.set(once, { text, smsId: String(body.smsID) });
        else if (status !== 409 && status !== 503) this.surprises.push(`${status} ${text}`);
        if (status === 200) return;
      } catch {
        // The connection broke: whether it was sent is not known here, so it is asked again.
      }
      this.unanswered++;
      await pause(20);
    }
  }
}
