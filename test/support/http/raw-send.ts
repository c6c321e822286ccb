import type { ApiClient } from './api-client.js';

/** An answer byte for byte. */
export interface RawAnswer {
  readonly status: number;
  /** The header `Idempotency-Replayed`. */
  readonly replayed: string | null;
  readonly text: string;
}

/** An SMS whose body is sent exactly as written. */
export async function rawSend(
  client: ApiClient,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<RawAnswer> {
  const response = await fetch(`${client.url}/send/sms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': client.key, ...headers },
    body,
  });
  return {
    status: response.status,
    replayed: response.headers.get('idempotency-replayed'),
    text: await response.text(),
  };
}
