import type { DynamicModule, Type } from '@nestjs/common';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import type { MsgappOptions } from '../../../src/msgapp/msgapp-options.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { until } from '../common/until.js';
import { EventReader } from '../events/event-reader.js';
import type { ApiClient } from '../http/api-client.js';
import type { AppSetup } from '../http/http-apps.js';
import { call, type Reply } from '../http/http-client.js';
import type { Service, StartService } from '../mounting/services.js';
import { PEPPER } from '../otp/otp-app.js';

/** The minimum that a channel of a test needs. */
export const MSGAPP: MsgappOptions = {
  tariff: { text: 1, media: 2 },
  credentialsKey: 'a key for credentials in tests, 0123456789',
};

/** Starts a service with one channel and the sandbox's phones; files may come from this machine. */
export function startMsgapp(
  start: StartService,
  options: Partial<MessagingOptions> = {},
  { imports = [], ...setup }: AppSetup & { imports?: (Type | DynamicModule)[] } = {},
): Promise<Service> {
  return start(
    { msgapp: MSGAPP, otp: { pepper: PEPPER }, media: { allow: 'loopback' }, ...options },
    { ...setup, imports: [SandboxModule.forRoot(), ...imports] },
  );
}

/** The answer to a connect. */
export interface Offer {
  readonly sessionID: string;
  readonly qrToken: string;
  readonly status: string;
  readonly qr_url: string;
  readonly expires_at: string;
}

/** A session as its account sees it. */
export interface SessionRow {
  readonly sessionID: string;
  readonly status: string;
  readonly number: string | null;
  readonly reason: string | null;
  readonly created_at: string;
  readonly connected_at: string | null;
}

/** One account's view of one messaging-app channel, and of the sandbox's phones. */
export class MsgappClient {
  /** @param origin where the sandbox is mounted */
  constructor(
    readonly api: ApiClient,
    private readonly origin: string,
    readonly channel = 'msgapp',
  ) {}

  async connect(): Promise<Offer> {
    const { status, body } = await this.api.call(`${this.channel}/web/connect`, { method: 'POST' });
    if (status !== 200) throw new Error(`No session: ${JSON.stringify(body)}`);
    return body as Offer;
  }

  /** Links a number as its owner would: requests a session, looks at the code, scans it. Returns the session's id. */
  async link(number: string): Promise<string> {
    const { sessionID, qr_url } = await this.connect();
    const events = await EventReader.open(qr_url);
    const { qr } = (await events.first('qr')).data;
    const { status } = await this.scan(number, String(qr));
    if (status !== 204) throw new Error(`The scan was answered ${status}.`);
    await events.until(({ data }) => data.status === 'connected');
    await events.end();
    return sessionID;
  }

  scan(number: string, qr: unknown): Promise<Reply> {
    return call(`${this.origin}/sandbox/phones/${number}/scan`, { method: 'POST', body: { qr } });
  }

  status(query = ''): Promise<Reply> {
    return this.api.call(`${this.channel}/web/status${query}`);
  }

  async sessions(): Promise<readonly SessionRow[]> {
    return ((await this.status()).body as { sessions: SessionRow[] }).sessions;
  }

  logout(sessionId: string): Promise<Reply> {
    return this.api.call(`${this.channel}/web/${sessionId}`, { method: 'DELETE' });
  }

  text(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.api.post(`${this.channel}/send/text`, body, headers);
  }

  media(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.api.post(`${this.channel}/send/media`, body, headers);
  }

  /** The id of a message that was accepted. */
  static idOf({ status, body }: Reply): string {
    if (status !== 200) throw new Error(`The send was refused: ${JSON.stringify(body)}`);
    return (body as { messageID: string }).messageID;
  }

  async message(messageId: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, body } = await this.api.call(`${this.channel}/messages/${messageId}`);
    if (status !== 200) throw new Error(`No message: ${JSON.stringify(body)}`);
    return body as Readonly<Record<string, unknown>>;
  }

  /** The message as soon as it has that status. */
  settled(messageId: string, wanted: string): Promise<Readonly<Record<string, unknown>>> {
    return until(
      () => this.message(messageId),
      ({ status }) => status === wanted,
    );
  }

  /** The newest messages that a phone shows, as soon as there are `count`. */
  async arrived(number: string, count: number): Promise<Readonly<Record<string, unknown>>> {
    const shown = await until(
      () => this.phone(number),
      ({ length }) => length >= count,
    );
    return shown.at(-1) ?? {};
  }

  /** The messages that a phone shows. */
  async phone(number: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await call(`${this.origin}/sandbox/phones/${number}/messages`);
    return body as readonly Readonly<Record<string, unknown>>[];
  }
}

/** A new account of a service. */
export async function msgappClient(service: Service, units = 1000, channel = 'msgapp'): Promise<MsgappClient> {
  return new MsgappClient(await service.client(units), service.url, channel);
}
