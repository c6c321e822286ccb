import { api, type RequestOptions } from '../../core/api.js';

/** A message of a stream of server-sent events. */
export interface StreamMessage {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

interface StreamReader extends Pick<RequestOptions, 'query'> {
  /** Called for each message. */
  onMessage(message: StreamMessage): void;
  /** Called when the stream is open, and when it has ended and will be opened again. */
  onState(state: 'open' | 'waiting', error?: unknown): void;
  /** The query of an attempt after the first; default the same. */
  again?(): RequestOptions['query'];
  readonly signal: AbortSignal;
}

const FIRST_PAUSE = 1000;
const MAX_PAUSE = 15_000;

/**
 * Reads server-sent events by `fetch`, which carries the access token, unlike `EventSource`. An end and an error that passes
 * are followed by another attempt, later and later while none succeeds.
 * @throws an error that another attempt does not mend
 */
export async function followStream(path: string, options: StreamReader): Promise<void> {
  const { onMessage, onState, again, signal } = options;
  let { query } = options;
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      const response = await api.open(path, { query, accept: 'text/event-stream', signal });
      onState('open');
      pause = FIRST_PAUSE;
      await readStream(response, onMessage);
      onState('waiting');
    } catch (error) {
      if (signal.aborted) return;
      if (isLasting(error)) throw error;
      onState('waiting', error);
    }
    query = again?.() ?? query;
    await pauseOf(pause, signal);
    pause = Math.min(pause * 2, MAX_PAUSE);
  }
}

/** Reads an answer to its end. */
export async function readStream(response: Response, onMessage: (message: StreamMessage) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = messageOf(block);
      if (message) onMessage(message);
    }
  }
}

function messageOf(block: string): StreamMessage | undefined {
  let id: string | undefined;
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') event = value;
  }
  return data.length === 0 ? undefined : { id, event, data: data.join('\n') };
}

function isLasting(error: unknown): boolean {
  // 401: the session is over; 403 and 404: no attempt changes them. 429: seats are taken, and become free.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 0;
  return status >= 400 && status < 500 && status !== 429 && status !== 410;
}

function pauseOf(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((go) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      go();
    }
    signal.addEventListener('abort', done);
  });
}
