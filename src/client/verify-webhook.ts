import type { WebhookEvent } from './events.js';

/** A call to a webhook, exactly as it arrived. */
export interface WebhookCall {
  /** `whsec_…`, or `whpk_…` for an endpoint with Ed25519. While a secret is rotated, give the old one and the new one. */
  readonly secrets: string | readonly string[];
  /** A `Headers` object, or the headers of Node's request. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body byte for byte, not parsed. */
  readonly body: string | Uint8Array;
  /** How many seconds old a call may be, and how many seconds its clock may be ahead. Default 300. */
  readonly toleranceSeconds?: number | undefined;
}

/** The call cannot be trusted. Answer it with 400. */
export class WebhookRefusedError extends Error {
  override readonly name = 'WebhookRefusedError';

  constructor(
    /**
     * `headers`: a header is missing or malformed. `time`: the call is too old, or comes from the future. `signature`: no
     * signature is correct.
     */
    readonly reason: 'headers' | 'time' | 'signature',
  ) {
    super(`The webhook call is refused: ${reason}`);
  }
}

/**
 * Checks the signature of a call (Standard Webhooks: HMAC-SHA256 `v1`, Ed25519 `v1a`) in constant time, and the call's age. The
 * service may repeat a call, so recognise repeats by the `id` of the events.
 *
 * @returns the call's events: one event, or all events of a batch
 * @throws WebhookRefusedError for a call that cannot be trusted. TypeError for a malformed secret or a parsed body
 */
export async function verifyWebhook(call: WebhookCall): Promise<readonly WebhookEvent[]> {
  const { secrets, headers, body, toleranceSeconds = 300 } = call;
  const [id, timestamp, webhookSignatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !webhookSignatures || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookRefusedError('headers');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) throw new WebhookRefusedError('time');

  const content = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  if (!ArrayBuffer.isView(content)) throw new TypeError('The body must be given as it came, not parsed.');
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), content);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const given = webhookSignatures.split(' ').map((each) => each.split(','));
  const checks = keys.flatMap(({ version, key }) =>
    given
      .filter(([of, signature]) => of === version && signature)
      .map(([, signature = '']) => crypto.subtle.verify(key.algorithm.name, key, bytesOf(signature), signed)),
  );
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookRefusedError('signature');

  const parsed = JSON.parse(new TextDecoder().decode(content));
  return parsed.events ?? [parsed];
}

async function keyOf(secret: string) {
  const [, kind, text = ''] = /^(whsec|whpk)_(.+)$/.exec(secret) ?? [];
  const bytes = bytesOf(text);
  if (kind === undefined || bytes.length === 0) throw new TypeError('A secret of a webhook is whsec_… or whpk_….');
  const [version, algorithm] =
    kind === 'whsec' ? (['v1', { name: 'HMAC', hash: 'SHA-256' }] as const) : (['v1a', { name: 'Ed25519' }] as const);
  return { version, key: await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']) };
}

/** Decodes base64. Returns no bytes if the text is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function headerOf(headers: WebhookCall['headers'], name: string): string | undefined {
  // `instanceof` does not work here, because a framework may bring its own `Headers` class.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.[0];
}
