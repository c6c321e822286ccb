import { MessagingApiError } from './api-error.js';
import { limited } from './waiting.js';

/** One server-sent event. */
interface ServerSentEvent {
  /** Default: `message`. */
  readonly type: string;
  /** Undefined if only an id came. A new connection then starts after this id. */
  readonly data: string | undefined;
  /** The id of this event, or of the last earlier event that had an id. */
  readonly id: string | undefined;
}

/**
 * Returns the events of a response (WHATWG HTML, "Server-sent events", section 9.2.6). It ends when the response ends.
 *
 * @param silenceMs how many milliseconds may pass without any data. A comment counts as data
 * @throws MessagingApiError `network_error` if the connection breaks, `timeout` if it is silent for too long
 */
export async function* readEvents(
  { body }: Response,
  silenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let type = '';
  let data: string[] = [];
  let id: string | undefined;
  let isNews = false;
  try {
    for (;;) {
      const chunk = await limited(silenceMs, signal, async () => reader?.read()).catch((error: unknown) => {
        const code = error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'network_error';
        throw new MessagingApiError(0, code, `The stream broke: ${error}`, { cause: error });
      });
      if (chunk === undefined || chunk.done) return;
      // A CR at the end may be the first half of a CR LF.
      const lines = (rest + decoder.decode(chunk.value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === 'event') type = value;
        else if (field === 'data') data.push(value);
        else if (field === 'id') {
          id = value;
          isNews = true;
        } else if (line === '') {
          if (isNews || data.length > 0)
            yield { type: type || 'message', data: data.length > 0 ? data.join('\n') : undefined, id };
          isNews = false;
          type = '';
          data = [];
        }
      }
    }
  } finally {
    // We do not await this, because a connection that hangs does not answer.
    reader?.cancel().catch(() => {});
  }
}
