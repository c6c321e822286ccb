import { createHmac } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { LoginHookCallView, LoginHookWithSecret } from '../../../src/hooks/login-hook.api.js';
import type { LoginHookDraft } from '../../../src/hooks/login-hook-input.js';
import type { LoginHookOptions } from '../../../src/hooks/login-hook-options.js';
import { LoginHookService } from '../../../src/hooks/login-hook-service.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { PATIENCE_MS } from '../common/until.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import type { Adapter } from '../http/http-apps.js';
import { call, type Reply } from '../http/http-client.js';
import { type MessagingApp, startMessaging } from '../mounting/messaging-app.js';

export const HOOK_PEPPER = 'a pepper of hooks for tests, 0123456789 abcdef';

/** A call of a log-in system, ready to be sent. */
export interface SystemCall {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HookAppSetup {
  readonly hooks?: Partial<LoginHookOptions>;
  readonly units?: number;
  readonly messaging?: Partial<MessagingOptions>;
}

/** A service with log-in hooks on a clock that the test advances. Its messages arrive on the sandbox's phones. */
export class HookApp {
  private constructor(
    readonly app: MessagingApp,
    readonly clock: FakeClock,
    readonly storage: SqliteMemory,
    /** The log lines. */
    readonly log: readonly string[],
  ) {}

  static async start(adapter: Adapter, { hooks = {}, units, messaging = {} }: HookAppSetup = {}): Promise<HookApp> {
    const [clock, storage] = [new FakeClock(), new SqliteMemory()];
    const options: Partial<MessagingOptions> = {
      storage: { useValue: storage },
      clock: { useValue: clock },
      hooks: { pepper: HOOK_PEPPER, ...hooks },
      ...messaging,
    };
    const log: string[] = [];
    const keep = (...said: unknown[]) => void log.push(said.map(String).join(' '));
    const logger = { log: keep, error: keep, warn: keep, debug: keep, verbose: keep, fatal: keep };
    const setup = { options: { logger }, ...(units === undefined ? {} : { units }) };
    return new HookApp(await startMessaging(adapter, options, setup), clock, storage, log);
  }

  close(): Promise<void> {
    return this.app.close();
  }

  get service(): LoginHookService {
    return this.app.app.get(LoginHookService, { strict: false });
  }

  /** Makes a hook by the API. */
  async hook(draft: Partial<LoginHookDraft> = {}): Promise<LoginHookWithSecret> {
    const { status, body } = await this.ask('POST', 'hooks', { kind: 'supabase', signature: 'INFOS', ...draft });
    if (status !== 200) throw new Error(`The hook was answered ${status} ${JSON.stringify(body)}.`);
    return body as LoginHookWithSecret;
  }

  /** A request to the API with the account's key. */
  ask(method: string, path: string, body?: unknown): Promise<Reply> {
    const { url, key } = this.app;
    return call(`${url}/api/v1/${path}`, {
      method,
      headers: { 'x-api-key': key },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Calls a hook as its log-in system does. */
  call(id: string, { body, headers }: SystemCall): Promise<Reply> {
    return call(`${this.app.url}/api/v1/hooks/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  }

  async balance(): Promise<number> {
    const { body } = await this.ask('GET', 'balance');
    return Number(Object(body).balance ?? Object(body).sms_balance);
  }

  /** The last calls of a hook as soon as there are `count` of them. */
  async calls(id: string, count: number): Promise<readonly LoginHookCallView[]> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    while (!deadline.aborted) {
      const { items } = await this.service.lastCalls(this.app.accountId, id);
      if (items.length >= count) return items;
      await pause();
    }
    throw new Error(`The hook did not get ${count} calls.`);
  }

  /** The texts on a phone as soon as there are `count` of them. */
  async texts(number: string, count: number): Promise<readonly string[]> {
    const phones = this.app.app.get(PhoneStore, { strict: false });
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (let turn = 0; !deadline.aborted; turn++) {
      const messages = await phones.messages(number);
      if (messages.length >= count) return messages.map(({ text }) => text);
      // The worker sleeps on the same clock.
      if (turn % 50 === 49) this.clock.advance(5);
      await pause();
    }
    throw new Error(`The phone did not get ${count} messages.`);
  }

  /** A call of Supabase Auth, signed by the library of Standard Webhooks, as of now. */
  supabase(secrets: readonly string[], given: SupabaseCall = {}): SystemCall {
    const {
      phone = '22670000001',
      otp = '561166',
      uuid = 'a-uuid',
      id = `msg_${Math.random()}`,
      ageSeconds = 0,
    } = given;
    const body = JSON.stringify({
      metadata: { uuid, time: '2026-11-27T05:00:00Z', name: 'send-sms', ip_address: '127.0.0.1' },
      user: { id: '6481a5c1-3d37-4a56-9f6a-bee08c554965', phone: `+${phone}`, role: 'authenticated' },
      sms: { otp, phone },
    });
    const at = new Date(this.clock.now() - ageSeconds * 1000);
    const signatures = secrets.map((secret) => new Webhook(secret.replace('v1,', '')).sign(id, at, body));
    return {
      body,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(given.joint ?? ', '),
      },
    };
  }

  /** A call of Zitadel, signed as its `actions` package does. */
  zitadel(secret: string, payload: object, ageSeconds = 0): SystemCall {
    const body = JSON.stringify(payload);
    const time = Math.floor(this.clock.now() / 1000) - ageSeconds;
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    return { body, headers: { 'zitadel-signature': `t=${time},v1=${signature}` } };
  }
}

interface SupabaseCall {
  readonly phone?: string;
  readonly otp?: string;
  readonly uuid?: string;
  readonly id?: string;
  readonly ageSeconds?: number;
  readonly joint?: string;
}
