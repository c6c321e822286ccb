/** One request that a client made. */
export interface Asked {
  readonly url: URL;
  readonly init: RequestInit;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The answer: a response, an error of the connection, or nothing until the signal is aborted. */
export type Answer = Response | Error | 'nothing';

/** A `fetch` with a list of answers in their order. The last one is repeated. */
export class ScriptedFetch {
  readonly asked: Asked[] = [];
  private readonly answers: (() => Answer)[];

  constructor(...answers: (() => Answer)[]) {
    this.answers = answers;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { body } = init;
    this.asked.push({
      url: new URL(url),
      init,
      headers: new Headers(init.headers),
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
    });
    const next = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    const answer = next?.() ?? new Error('No answer was written down.');
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  };

  /** A header of each request. */
  headers(name: string): (string | null)[] {
    return this.asked.map(({ headers }) => headers.get(name));
  }
}

export const ok = (body: unknown) => () => Response.json(body);

/** A refusal in the form of the API. */
export const refused =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}) =>
  () =>
    Response.json(
      { statusCode: status, message: `refused: ${code}`, error: 'Error' },
      { status, headers: { 'x-error-code': code, ...headers } },
    );

export const lost = () => new TypeError('fetch failed');

/** An answer whose body breaks off. */
export const broken = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"smsID":'));
        controller.error(new TypeError('terminated'));
      },
    }),
  );
