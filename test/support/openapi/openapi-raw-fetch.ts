import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** Like `fetch`, except that a GET may have a body, which HTTP allows and `fetch` does not. */
export async function rawFetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
  const sent = request(input, {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    agent: false,
  });
  if (typeof init.body === 'string') sent.setHeader('content-length', Buffer.byteLength(init.body));
  sent.end(typeof init.body === 'string' ? init.body : undefined);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each);
  }
  if (headers.get('content-type') === 'text/event-stream') {
    sent.destroy();
    return new Response('', { status: answer.statusCode ?? 0, headers });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(Buffer.from(chunk));
  return new Response(answer.statusCode === 204 ? null : Buffer.concat(chunks), {
    status: answer.statusCode ?? 0,
    headers,
  });
}
