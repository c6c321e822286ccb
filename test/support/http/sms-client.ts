/** Where a test sends, and with which credentials. */
export interface SmsTarget {
  readonly url: string;
  readonly key: string;
}

/** An answer with its body byte for byte and parsed. */
export interface SmsAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The contents of a send. Default: one number of Burkina Faso. */
export interface SmsOrder {
  readonly number?: readonly string[];
  readonly content?: string;
  readonly signature?: string;
  /** The Idempotency-Key. */
  readonly once?: string;
}

/** A phone number for each index. */
export function phoneOf(index: number): string {
  return `2267${String(index).padStart(7, '0')}`;
}

/** `POST /send/sms`. */
export function sendSms(target: SmsTarget, order: SmsOrder = {}): Promise<SmsAnswer> {
  const { number = [phoneOf(0)], content = 'Bonjour', signature = 'INFOS', once } = order;
  return ask(target, 'api/v1/send/sms', { signature, content, number }, once);
}

/** The units left, as `GET /balance` shows. */
export async function balanceOf(target: SmsTarget): Promise<unknown> {
  return (await ask(target, 'api/v1/balance')).body.balance;
}

/** A GET, or a POST if there is a body. Every header and byte of the answer is kept. */
export async function ask({ url, key }: SmsTarget, path: string, body?: unknown, once?: string): Promise<SmsAnswer> {
  const response = await fetch(`${url}/${path}`, {
    headers: {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** How often each answer came: its status with its error text. */
export function tallyOf(answers: readonly SmsAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status === 200 ? '200' : `${status} ${String(body.message)}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
