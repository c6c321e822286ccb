import type { INestApplicationContext } from '@nestjs/common';
import { MessagingError, MsgappService, OtpService, SmsService } from 'nestjs-messaging';
import type { Chance } from './chance.js';
import { CUSTOMERS, type DemoText } from './demo-script.js';
import type { SandboxPhonesClient } from './sandbox-phones.js';
import { until } from './until.js';

/** The texts and codes that an account of the demo sends in one round. */
export interface Round {
  readonly accountId: string;
  readonly texts: readonly DemoText[];
  /** How many texts, and how many codes. */
  readonly sends: number;
  readonly codes: number;
  /** The service that the codes are for. */
  readonly service: string;
}

/** Makes the traffic of an account, with the same services that a host uses. */
export class DemoAccountTraffic {
  private readonly sms: SmsService;
  private readonly otp: OtpService;
  private readonly msgapp: MsgappService;

  constructor(
    app: INestApplicationContext,
    private readonly phones: SandboxPhonesClient,
    private readonly chance: Chance,
    private readonly now: () => number,
  ) {
    this.sms = app.get(SmsService, { strict: false });
    this.otp = app.get(OtpService, { strict: false });
    this.msgapp = app.get(MsgappService, { strict: false });
  }

  /** Resolves when everything that was sent is final or waits for a report. */
  async round({ accountId, texts, sends, codes, service }: Round): Promise<void> {
    const drafts = Array.from({ length: sends }, () => this.chance.one(texts));
    const planned = drafts.map(({ numbers, ...text }) => ({ ...text, number: this.chance.some(CUSTOMERS, numbers) }));
    await Promise.all(planned.map((text) => this.text(accountId, text)));
    await Promise.all(
      this.chance.some(REACHABLE, codes).map((number) => this.code(accountId, service, number, this.chance.next())),
    );
  }

  /** Sends a text of `round` over the messaging app. */
  async chat(accountId: string, body: string): Promise<void> {
    const to = this.chance.one(REACHABLE);
    const sent = await this.msgapp.sendText(accountId, { to, body }).catch(unlessRefused);
    if (sent) await until(async () => !WAITING.includes((await this.msgapp.message(accountId, sent.messageID)).status));
  }

  /** Sends a text of `round` as an SMS. */
  async text(accountId: string, text: Parameters<SmsService['send']>[1]): Promise<void> {
    const sent = await this.sms.send(accountId, text).catch(unlessRefused);
    if (!sent) return;
    await until(async () => {
      const { recipients } = await this.sms.get(accountId, sent.smsID);
      return recipients.every(({ status }) => !WAITING.includes(status));
    });
  }

  /**
   * Sends a code. `luck` decides whether it is verified at once, after a mistake, or never. One number asks for too many codes.
   */
  private async code(accountId: string, service: string, number: string, luck: number): Promise<void> {
    const since = this.now();
    const times = luck > 0.94 ? 6 : 1;
    let sends = 0;
    for (let time = 0; time < times; time++) {
      if (await this.otp.send(accountId, { service, number }).catch(unlessRefused)) sends++;
    }
    if (sends === 0) return;
    const otp = await until(() => this.phones.code(number, since, sends));
    const wrong = otp.replace(/\d/g, (digit) => String((Number(digit) + 1) % 10));
    const tries = luck < 0.62 ? [otp] : luck < 0.8 ? [wrong, otp] : luck < 0.86 ? Array<string>(11).fill(wrong) : [];
    for (const each of tries) await this.otp.verify(accountId, { service, number, otp: each });
  }
}

const REACHABLE = CUSTOMERS.filter((number) => !/99000\d$/.test(number));

const WAITING: readonly string[] = ['queued', 'sending'];

/** Ignores a refusal (no units left, too many codes), because refusals are part of the demo. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof MessagingError)) throw error;
}
