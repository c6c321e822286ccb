import type { WebhookEvent } from './events.js';

/** A call to a webhook, as it came. */
export interface WebhookCall {
  /** `whsec_…`, or `whpk_…` of an endpoint with Ed25519; while a secret is rotated, both. */
  readonly secrets: string | readonly string[];
  /** A `Headers`, or the headers of Node's request. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body byte for byte, not parsed. */
  readonly body: string | Uint8Array;
  /** How old a call may be, and how far ahead its clock, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
}

/** A call that is not to be believed; answer 400. */
export class WebhookRefusedError extends Error {
  override readonly name = 'WebhookRefusedError';

  constructor(
    /** `headers`: one is missing or malformed; `time`: too old, or from the future; `signature`: none is right. */
    readonly reason: 'headers' | 'time' | 'signature',
  ) {
    super(`The webhook call is refused: ${reason}`);
  }
}

/**
 * Checks the signature of a call (Standard Webhooks: HMAC-SHA256 `v1`, Ed25519 `v1a`) in constant time, and its age. Calls are
 * repeated: tell repeats by the `id` of the events.
 *
 * @returns its events: one, or those of a batch
 * @throws WebhookRefusedError for a call that is not to be believed, TypeError for a secret of another form or a parsed body
 */
export async function verifyWebhook(call: WebhookCall): Promise<readonly WebhookEvent[]> {
  const { secrets, headers, body, toleranceSeconds = 300 } = call;
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) throw new WebhookRefusedError('headers');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) throw new WebhookRefusedError('time');

  const content = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  if (!ArrayBuffer.isView(content)) throw new TypeError('The body must be given as it came, not parsed.');
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), content);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  const given = signatures.split(' ').map((each) => each.split(','));
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

/** Base64, empty where it is none. */
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
  // Not `instanceof`: a framework may bring a `Headers` of its own.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.[0];
}
