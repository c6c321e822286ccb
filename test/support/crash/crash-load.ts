import { setTimeout as pause } from 'node:timers/promises';
import { ask, phoneOf, type SmsTarget } from '../http/sms-client.js';

/** A send under a key of its own, to numbers that no other send uses. */
export interface Sending {
  readonly channel: 'sms' | 'otp' | 'msgapp';
  readonly numbers: readonly string[];
  /** Except codes. */
  readonly priority?: 'high' | 'normal' | 'bulk' | undefined;
}

/** The contents of an answer 200, byte for byte. */
export interface AnsweredSend extends Sending {
  readonly text: string;
}

/** Which sends a load makes. */
export interface LoadOrder {
  readonly clients: number;
  /** The `index`th send. Default: an SMS to one number. */
  readonly sending?: (index: number) => Sending;
  /** Separates its keys and numbers from those of other loads on the same database. Default 0. */
  readonly from?: number;
}

/** The maximum number of sends of one load. The keys and numbers of two clients are this far apart. */
const SENDS_A_CLIENT = 10_000;
const SERVICE = 'Charge';

/** How often one host is asked, and the pause after each failed attempt. 30 s, if it refuses at once. */
const MAX_POLLS = 150;
const POLL_MS = 200;

/** How a send is repeated. */
interface Persistence {
  /** Default: any of them, in turn. */
  readonly host?: { readonly url: string };
  readonly pauseMs?: number;
  readonly maxTries?: number;
}

/** 409 also means "no number is connected", which a restart soon ends. */
const MAY_BE_ASKED_AGAIN = [409, 429, 503, 504];

/**
 * Clients that send without end, each under Idempotency-Keys of its own. They repeat with the same key, at any of the
 * hosts, every send without an answer or with an answer that allows a repeat, as a careful client does. Any other
 * answer but 200 is a surprise, and the first one ends the load.
 */
export class CrashLoad {
  /** By Idempotency-Key. */
  readonly answered = new Map<string, AnsweredSend>();
  readonly surprises: string[] = [];
  /** Requests without an answer, or with an answer that allows a repeat. */
  unanswered = 0;
  /** How often each answer other than 200 came: its channel, status and text. */
  readonly refusals = new Map<string, number>();
  private going = true;
  private polling = 0;
  private turn = 0;
  private readonly clients: Promise<void>[];

  /** @param hosts read for each request, so that they may come and go */
  constructor(
    private readonly hosts: () => readonly { readonly url: string }[],
    private readonly key: string,
    private readonly order: LoadOrder,
  ) {
    this.clients = Array.from({ length: order.clients }, (_, index) => this.client(index));
  }

  /** Lets every client finish its current send. */
  async finish(): Promise<void> {
    this.going = false;
    await Promise.all(this.clients);
  }

  /** Finishes. A send that no host has answered within this many milliseconds is a surprise, and is abandoned. */
  async finishWithin(limitMs: number): Promise<void> {
    const patience = new AbortController();
    const late = pause(limitMs, 'late', { signal: patience.signal }).catch(() => undefined);
    if ((await Promise.race([this.finish(), late])) === 'late') this.surprises.push(`no answer for ${limitMs} ms`);
    patience.abort();
  }

  /**
   * Sends one SMS through this host alone, until it has answered, to see whether it has recovered.
   * @returns how often it was asked; if it never answers, that is a surprise
   */
  async through(host: { readonly url: string }): Promise<number> {
    const { from = 0, sending = oneSms, clients } = this.order;
    const place = from + clients * SENDS_A_CLIENT + this.polling++;
    return this.send(`key-${place}`, sending(place), { host, pauseMs: POLL_MS, maxTries: MAX_POLLS });
  }

  /** Repeats a send once more, under its key. Returns the fault of the answer, as a sentence. */
  async repeated(once: string): Promise<string | undefined> {
    const sent = this.answered.get(once);
    const repeat = sent && (await ask(this.target(), ...requestOf(sent), once));
    if (!repeat || repeat.text === sent.text) return undefined;
    return `${once} answered ${sent.text}, and then ${repeat.status} ${repeat.text}`;
  }

  private async client(index: number): Promise<void> {
    const { from = 0, sending = oneSms } = this.order;
    for (let count = 0; this.going && this.surprises.length === 0; count++) {
      const place = from + index * SENDS_A_CLIENT + count;
      await this.send(`key-${place}`, sending(place));
    }
  }

  /** @returns how often it asked */
  private async send(
    once: string,
    sending: Sending,
    { host, pauseMs = 20, maxTries = Number.POSITIVE_INFINITY }: Persistence = {},
  ): Promise<number> {
    let tries = 0;
    while (this.surprises.length === 0) {
      if (tries++ >= maxTries) this.surprises.push(`${host?.url} was asked ${maxTries} times and has not recovered`);
      try {
        const { status, text } = await ask(this.target(host), ...requestOf(sending), once);
        if (status === 200) this.answered.set(once, { ...sending, text });
        else if (!MAY_BE_ASKED_AGAIN.includes(status)) this.surprises.push(`${sending.channel}: ${status} ${text}`);
        if (status === 200) break;
        const refusal = `${sending.channel}: ${status} ${text}`;
        this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
      } catch {
        // The connection broke, so nobody here knows whether the SMS was sent, and the request is repeated.
      }
      this.unanswered++;
      await pause(pauseMs);
    }
    return tries;
  }

  private target(only?: { readonly url: string }): SmsTarget {
    const hosts = this.hosts();
    const host = only ?? hosts[this.turn++ % hosts.length];
    return { url: host?.url ?? '', key: this.key };
  }
}

function oneSms(place: number): Sending {
  return { channel: 'sms', numbers: [phoneOf(place)] };
}

function requestOf({ channel, numbers, priority }: Sending): [path: string, body: unknown] {
  const [number] = numbers;
  if (channel === 'otp') return ['api/v1/send/otp', { service: SERVICE, number }];
  if (channel === 'msgapp') return ['api/v1/msgapp/send/text', { to: number, body: 'Bonjour', priority }];
  return ['api/v1/send/sms', { signature: 'INFOS', content: 'Bonjour', number: numbers, priority }];
}
