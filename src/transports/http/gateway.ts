import type { Clock } from '../../common/clock.js';
import type { OutgoingSms } from '../../sms/sms-transport.js';
import type { Outcome } from './exchange.js';
import { HttpClient } from './http-client.js';
import type { HttpSettings } from './http-sms-options.js';
import { parseJson } from './json-values.js';
import { type ErrorTable, errorTable, judge, type Verdict } from './judgement.js';
import { referenceOf } from './message-reference.js';
import { type TokenOutcome, TokenSource } from './token-source.js';
import type { RequestContext, VendorAnswer, VendorFacts, VendorToken } from './vendor.js';

/** Speaks to one vendor as its description says, and judges what it answers. */
export class Gateway {
  private readonly client: HttpClient;
  private readonly errors: ErrorTable;
  private readonly tokens: TokenSource | undefined;

  constructor(
    private readonly settings: HttpSettings,
    clock: Clock,
  ) {
    this.client = new HttpClient(settings, clock);
    this.errors = errorTable(settings.vendor.errors);
    const { token } = settings.vendor;
    this.tokens = token && new TokenSource(() => this.fetchToken(token), clock);
  }

  /** Never rejects. */
  async submit(sms: OutgoingSms, now: number): Promise<Verdict> {
    const { tokens } = this;
    if (!tokens) return this.verdict(await this.send(sms, now, ''));
    for (let first = true; ; first = false) {
      const outcome = await tokens.get();
      if ('refused' in outcome) return outcome.refused;
      const sent = await this.send(sms, now, outcome.token);
      if (sent === undefined || sent.kind !== 'answered' || sent.status !== 401) return this.verdict(sent);
      // Taken back before its time, and the SMS not taken: a new one may do.
      tokens.forget(outcome.token);
      if (!first) return this.verdict(sent);
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Undefined when the vendor's description fails. */
  private async send(sms: OutgoingSms, now: number, token: string): Promise<Outcome | undefined> {
    const { vendor, callbackUrl } = this.settings;
    const lifeSeconds = sms.expiresAt === undefined ? undefined : Math.max(1, Math.floor((sms.expiresAt - now) / 1000));
    const context: RequestContext = { reference: referenceOf(sms), callbackUrl, lifeSeconds, token };
    try {
      return await this.client.send(vendor.request(sms, context));
    } catch {
      return undefined;
    }
  }

  private verdict(outcome: Outcome | undefined): Verdict {
    if (outcome === undefined) return { judgement: { kind: 'temporary', code: 'no_request' } };
    if (outcome.kind !== 'answered') {
      const kind = outcome.kind === 'not_sent' ? 'temporary' : 'unclear';
      return { judgement: { kind, code: outcome.code } };
    }
    const answer = answerOf(outcome);
    const judgement = judge(answer.status, this.read(answer), this.errors);
    return { judgement, retryAfter: answer.headers['retry-after'] };
  }

  private read(answer: VendorAnswer): VendorFacts {
    if (answer.text === undefined) return {};
    try {
      return this.settings.vendor.read(answer);
    } catch {
      return {};
    }
  }

  private async fetchToken(token: VendorToken): Promise<TokenOutcome> {
    const outcome = await this.client.send(token.request);
    // The SMS itself was not sent, whatever became of this.
    if (outcome.kind !== 'answered')
      return { refused: { judgement: { kind: 'temporary', code: `token_${outcome.code}` } } };
    const answer = answerOf(outcome);
    const found = answer.status === 200 ? token.read(answer) : undefined;
    if (found) return found;
    const kind = answer.status === 429 || answer.status >= 500 ? 'throttled' : 'account';
    const code = `token_http_${answer.status}`;
    return { refused: { judgement: { kind, code }, retryAfter: answer.headers['retry-after'] } };
  }
}

function answerOf({ status, headers, text }: Extract<Outcome, { kind: 'answered' }>): VendorAnswer {
  return { status, headers, text, json: parseJson(text) };
}
