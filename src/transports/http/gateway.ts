import type { Clock } from '../../common/clock.js';
import { MINUTE_MS } from '../../common/time.js';
import type { OutgoingSms } from '../../sms/sms-transport.js';
import { carrierCode, type ExchangeOutcome, HttpClient } from './http-client.js';
import type { GatewaySettings } from './http-sms-options.js';
import { idOf, parseJson } from './json-values.js';
import { receiptReferenceOf, referenceOf } from './message-reference.js';
import type { RequestContext, VendorAnswer, VendorErrors, VendorFacts, VendorRequest, VendorToken } from './vendor.js';

/** Sends requests to one vendor by its description and interprets the answers. */
export class Gateway {
  private readonly client: HttpClient;
  private readonly errors: ErrorTable;
  private readonly tokens: TokenSource | undefined;

  constructor(
    private readonly settings: GatewaySettings,
    clock: Clock,
  ) {
    this.client = new HttpClient(settings, clock);
    this.errors = errorTable(settings.vendor.errors);
    const { token } = settings.vendor;
    this.tokens = token && new TokenSource(() => this.fetchToken(token), clock);
  }

  /** Submits one SMS. Never rejects. */
  async submit(sms: OutgoingSms, now: number): Promise<GatewayResponse> {
    const { tokens } = this;
    if (!tokens) return this.interpret(await this.send(sms, now, ''));
    for (let first = true; ; first = false) {
      const outcome = await tokens.get();
      if ('refused' in outcome) return outcome.refused;
      const sent = await this.send(sms, now, outcome.token);
      if (sent === undefined || sent.kind !== 'answered' || sent.status !== 401) return this.interpret(sent);
      // The vendor has revoked the token early and has not accepted the SMS, so the request is repeated once with a new token.
      tokens.forget(outcome.token);
      if (!first) return this.interpret(sent);
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Sends the request for an SMS. Undefined if the vendor's description throws. */
  private async send(sms: OutgoingSms, now: number, token: string): Promise<ExchangeOutcome | undefined> {
    const { vendor, repeat, callbackUrl } = this.settings;
    const lifeSeconds = sms.expiresAt === undefined ? undefined : Math.max(1, Math.floor((sms.expiresAt - now) / 1000));
    const context: RequestContext = {
      reference: referenceOf(sms),
      receiptReference: receiptReferenceOf(sms, repeat),
      callbackUrl,
      lifeSeconds,
      token,
    };
    try {
      return await this.client.send(traced(vendor.request(sms, context), sms));
    } catch {
      return undefined;
    }
  }

  private interpret(outcome: ExchangeOutcome | undefined): GatewayResponse {
    if (outcome === undefined) return { result: { kind: 'temporary', code: 'no_request' } };
    if (outcome.kind !== 'answered') {
      const kind = outcome.kind === 'not_sent' ? 'temporary' : 'unclear';
      return { result: { kind, code: outcome.code } };
    }
    const answer = answerOf(outcome);
    const result = classifyAnswer(answer.status, this.read(answer), this.errors);
    return { result, retryAfter: answer.headers['retry-after'] };
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
    // If no token can be had, this is always a temporary error, because the SMS itself was not sent.
    if (outcome.kind !== 'answered')
      return { refused: { result: { kind: 'temporary', code: `token_${outcome.code}` } } };
    const answer = answerOf(outcome);
    const found = answer.status === 200 ? token.read(answer) : undefined;
    if (found) return found;
    const kind = answer.status === 429 || answer.status >= 500 ? 'throttled' : 'account';
    const code = `token_http_${answer.status}`;
    return { refused: { result: { kind, code }, retryAfter: answer.headers['retry-after'] } };
  }
}

/** Returns a request with the trace of its hand-over. */
function traced(request: VendorRequest, { trace }: OutgoingSms): VendorRequest {
  return trace === undefined ? request : { ...request, headers: { traceparent: trace, ...request.headers } };
}

function answerOf({ status, headers, text }: Extract<ExchangeOutcome, { kind: 'answered' }>): VendorAnswer {
  return { status, headers, text, json: parseJson(text) };
}

/** Why the vendor did not accept an SMS. */
type RefusalKind = Exclude<keyof VendorErrors, 'unclear'>;

/** The result of one request. */
type GatewayResult =
  /** The vendor accepted the SMS. `ids` is empty if it gives none. */
  | { readonly kind: 'taken'; readonly ids: readonly string[]; readonly segments: number | undefined }
  /** The vendor did not accept the SMS. */
  | { readonly kind: RefusalKind; readonly code: string }
  /** The vendor may have accepted the SMS. It has `ids` if the vendor accepted some parts. */
  | { readonly kind: 'unclear'; readonly code: string; readonly ids?: readonly string[] };

/** The result of one request with the vendor's `Retry-After` header. */
interface GatewayResponse {
  readonly result: GatewayResult;
  readonly retryAfter?: string | undefined;
}

/** The meaning of a vendor's codes, by code. */
type ErrorTable = ReadonlyMap<string, keyof VendorErrors>;

export function errorTable(errors: VendorErrors = {}): ErrorTable {
  const { permanent = [], temporary = [], throttled = [], account = [], unclear = [] } = errors;
  const lists = { permanent, temporary, throttled, account, unclear };
  const kinds = ['permanent', 'temporary', 'throttled', 'account', 'unclear'] as const;
  return new Map(kinds.flatMap((kind) => lists[kind].map((code): [string, typeof kind] => [String(code), kind])));
}

/**
 * Classifies an answer. A code in the vendor's lists decides first, then `alreadyAccepted`, then the HTTP status. 2xx with an
 * id or `accepted` is `taken`. Any other 2xx is `unclear`. 429 and 503 are `throttled`. Statuses for a wrong key, a lack of credit or a wrong URL
 * (401, 402, 403, 404, 405, redirects) are `account`. Other 4xx are `permanent`. Other 5xx are `unclear`, because a gateway may
 * fail after it has passed the SMS on.
 */
export function classifyAnswer(status: VendorAnswer['status'], facts: VendorFacts, table: ErrorTable): GatewayResult {
  const { code, segments, accepted, alreadyAccepted } = facts;
  const ids = (facts.ids ?? []).map((id) => idOf(id) ?? '');
  const known = ids.some((id) => id !== '');
  const ok = status >= 200 && status < 300;
  // Only some parts were accepted. A repetition would send those twice, and a refusal would be refunded.
  if (ok && known && code !== undefined) return { kind: 'unclear', code: `partial_${carrierCode(code)}`, ids };
  const listed = code === undefined ? undefined : table.get(code);
  if (listed !== undefined) return { kind: listed, code: carrierCode(code ?? '') };
  if (ok && known) return { kind: 'taken', ids, segments };
  if (code === undefined && (alreadyAccepted === true || (ok && accepted === true)))
    return { kind: 'taken', ids: [], segments };
  if (ok && code === undefined) return { kind: 'unclear', code: 'malformed_answer' };
  const kind = ok ? 'permanent' : kindOfStatus(status);
  return { kind, code: code === undefined ? `http_${status}` : carrierCode(code) };
}

function kindOfStatus(status: number): RefusalKind | 'unclear' {
  if (status === 429 || status === 503) return 'throttled';
  if (status === 408 || status === 425) return 'temporary';
  if (status < 400 || [401, 402, 403, 404, 405].includes(status)) return 'account';
  return status < 500 ? 'permanent' : 'unclear';
}

/** A token with its lifetime, or why there is none. */
type TokenOutcome = { readonly token: string; readonly seconds: number } | { readonly refused: GatewayResponse };

/** How long before its end a token is replaced, so that it is valid until the request has arrived. */
const MARGIN_MS = MINUTE_MS;

/** Caches a bearer token until it expires. Concurrent calls share one request for a new token. */
export class TokenSource {
  private kept: { readonly token: string; readonly until: number } | undefined;
  private fetching: Promise<TokenOutcome> | undefined;

  constructor(
    private readonly fetch: () => Promise<TokenOutcome>,
    private readonly clock: Clock,
  ) {}

  get(): Promise<TokenOutcome> {
    const { kept } = this;
    if (kept && this.clock.elapsed() < kept.until) return Promise.resolve({ token: kept.token, seconds: 0 });
    this.fetching ??= this.renew().finally(() => {
      this.fetching = undefined;
    });
    return this.fetching;
  }

  /** Drops a token that the vendor refused. A newer token stays. */
  forget(token: string): void {
    if (this.kept?.token === token) this.kept = undefined;
  }

  private async renew(): Promise<TokenOutcome> {
    const outcome = await this.fetch();
    if ('token' in outcome) {
      const { token, seconds } = outcome;
      // A token that lasts less than the margin is used only by the calls that wait for it now.
      this.kept = { token, until: this.clock.elapsed() + seconds * 1000 - MARGIN_MS };
    }
    return outcome;
  }
}
