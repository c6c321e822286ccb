import { setImmediate as pause } from 'node:timers/promises';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { PATIENCE_MS } from '../common/until.js';
import type { Adapter, AppSetup } from '../http/http-apps.js';
import { call, type Reply } from '../http/http-client.js';
import { type MessagingApp, startMessaging } from '../mounting/messaging-app.js';

export const PEPPER = 'a pepper for tests, 0123456789 abcdef';

export interface OtpAppSetup extends AppSetup {
  readonly otp?: Partial<OtpOptions>;
  readonly storage?: MessagingStorage;
  readonly units?: number;
  readonly messaging?: Partial<MessagingOptions>;
}

/** A service with OTP on a clock that the test advances. Its messages arrive on the sandbox's phones. */
export class OtpApp {
  /** Every code that a phone showed to this test. */
  readonly codes = new Set<string>();

  private constructor(
    readonly app: MessagingApp,
    readonly clock: FakeClock,
    /** The log lines. */
    readonly log: readonly string[],
  ) {}

  static async start(adapter: Adapter, setup: OtpAppSetup = {}): Promise<OtpApp> {
    const { otp = {}, storage = new MemoryStorage(), messaging = {}, ...rest } = setup;
    const clock = new FakeClock();
    const options: Partial<MessagingOptions> = {
      storage: { useValue: storage },
      clock: { useValue: clock },
      otp: { pepper: PEPPER, ...otp },
      ...messaging,
    };
    const log: string[] = [];
    const keep = (...said: unknown[]) => void log.push(said.map(String).join(' '));
    const logger = { log: keep, error: keep, warn: keep, debug: keep, verbose: keep, fatal: keep };
    return new OtpApp(await startMessaging(adapter, options, { options: { logger }, ...rest }), clock, log);
  }

  close(): Promise<void> {
    return this.app.close();
  }

  send(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.post('send/otp', body, headers);
  }

  verify(body: unknown): Promise<Reply> {
    return this.post('verify/otp', body);
  }

  async balance(): Promise<unknown> {
    const { body } = await call(`${this.app.url}/api/v1/balance`, { headers: { 'x-api-key': this.app.key } });
    return body;
  }

  /** The texts on a phone as soon as there are `count` of them. */
  async texts(number: string, count: number): Promise<readonly string[]> {
    const phones = this.app.app.get(PhoneStore, { strict: false });
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (let turn = 0; !deadline.aborted; turn++) {
      const messages = await phones.messages(number);
      if (messages.length >= count) {
        for (const { text } of messages) this.codes.add(/^\d+/.exec(text)?.[0] ?? '');
        return messages.map(({ text }) => text);
      }
      // The worker sleeps on the same clock.
      if (turn % 50 === 49) this.clock.advance(5);
      await pause();
    }
    throw new Error(`The phone did not get ${count} messages.`);
  }

  /** Sends a code and reads it on the phone. */
  async codeFor(number: string, service = 'Boutique', count = 1): Promise<string> {
    const { status, body } = await this.send({ service, number });
    if (status !== 200) throw new Error(`The send was answered ${status} ${JSON.stringify(body)}.`);
    const texts = await this.texts(number, count);
    return codeIn(texts.at(-1) ?? '');
  }

  private post(route: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const { url, key } = this.app;
    return call(`${url}/api/v1/${route}`, { method: 'POST', headers: { 'x-api-key': key, ...headers }, body });
  }
}

/** The code with which a text begins. */
export function codeIn(text: string): string {
  const [code] = /^\d+/.exec(text) ?? [];
  if (code === undefined) throw new Error('There is no code in the text.');
  return code;
}

/** Another code of the same length. */
export function wrongFor(code: string, step = 1): string {
  return String((Number(code) + step) % 10 ** code.length).padStart(code.length, '0');
}
