import { Pool } from 'undici';
import type { Clock } from '../../common/clock.js';
import { Exchange, type Outcome } from './exchange.js';
import type { HttpSettings } from './http-sms-options.js';
import type { VendorRequest } from './vendor.js';

/** What an answer may have at most; the longest of a real one is some kilobytes. */
const ANSWER_BYTES = 64 * 1024;

/**
 * Makes requests to one host: kept-alive connections, no more of them than requests are let in, one deadline from the
 * connection to the last byte, certificates verified, no redirects, nothing repeated.
 */
export class HttpClient {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly underWay = new Set<Promise<Outcome>>();

  constructor(
    private readonly settings: HttpSettings,
    private readonly clock: Clock,
  ) {
    const { origin, pathname } = settings.baseUrl;
    this.prefix = pathname.replace(/\/$/, '');
    this.pool = new Pool(origin, {
      connections: settings.concurrency,
      pipelining: 1,
      // The deadline is ours; undici's timers must not come before it.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: ANSWER_BYTES,
      connect: { ...settings.tls, rejectUnauthorized: true, timeout: settings.requestMs },
    });
  }

  /** @throws only what a wrong description leads to; nothing was sent then */
  send({ method = 'POST', path, headers = {}, json, form }: VendorRequest): Promise<Outcome> {
    const body = form === undefined ? jsonBody(json) : formBody(form);
    const outcome = new Promise<Outcome>((resolve) => {
      const exchange = new Exchange((outcome) => {
        cancel();
        resolve(outcome);
      });
      const cancel = this.clock.after(this.settings.requestMs, () => exchange.expire());
      this.pool.dispatch(
        {
          method,
          path: `${this.prefix}${path}`,
          headers: { accept: 'application/json', 'user-agent': 'nestjs-messaging', ...headers, ...body?.headers },
          body: body?.text ?? null,
        },
        exchange,
      );
    });
    this.underWay.add(outcome);
    return outcome.finally(() => this.underWay.delete(outcome));
  }

  /** Resolves when what is under way has ended, within its deadline; undici's own `close` may wait longer. */
  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
    await this.pool.destroy();
  }
}

interface Body {
  readonly text: string;
  readonly headers: { readonly 'content-type': string };
}

function jsonBody(json: unknown): Body | undefined {
  if (json === undefined) return undefined;
  return { text: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
}

function formBody(form: NonNullable<VendorRequest['form']>): Body {
  const given = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return { text, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}
