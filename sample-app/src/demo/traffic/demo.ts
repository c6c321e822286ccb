import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AccountService,
  LedgerService,
  MsgappService,
  OptOutService,
  SessionManager,
  SignatureService,
  SmsService,
  WebhookService,
} from 'nestjs-messaging';
import { AppModule } from '../../app.module.js';
import { type Config, ConfigError, isOnSandbox } from '../../config/config.js';
import { httpAdapter } from '../../config/http-adapter.js';
import { baseUrl } from '../base-url.js';
import { DemoAccount } from '../demo-account.js';
import { ProgramLogger } from '../program-logger.js';
import { databaseTrouble } from '../trouble.js';
import { Chance } from './chance.js';
import { DemoAccountTraffic } from './demo-account-traffic.js';
import { DemoCampaigns, RUNNING_RECIPIENTS } from './demo-campaigns.js';
import { DemoClock, DemoIds } from './demo-clock.js';
import { BUSY_CUSTOMER, CUSTOMERS, DAYS, DEMO_TEXTS, HOURS, REPLIES, SHOP, SHOP_TEXTS } from './demo-script.js';
import { SandboxPhonesClient } from './sandbox-phones.js';
import { until } from './until.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Makes a second account and some days of traffic, once; a second call only says that they exist. The services themselves
 * make the traffic, with a clock that starts in the past. So balances, the ledger, events and webhook calls are real.
 *
 * @param say prints a line of progress
 * @throws ConfigError off the sandbox, and while the sample app runs
 */
export async function makeDemo(config: Config, say: (line: string) => void): Promise<void> {
  if (!isOnSandbox(config)) {
    throw new ConfigError(
      'The demo is for the sandbox only: with these settings its messages would reach real phones.',
    );
  }
  const clock = new DemoClock(DAYS * DAY_MS);
  const app = await open(config, clock);
  try {
    if (await app.get(AccountService, { strict: false }).findAccount(SHOP.id)) {
      say(`The demo exists already: see the account ${SHOP.id}.`);
      return;
    }
    await new Demo(app, config, clock, say).run();
    say('The demo is ready. Start the sample app: it prints a link to the dashboard.');
  } finally {
    await app.close();
  }
}

/** Opens the whole application with its routes, because the sandbox's inbox receives the calls of the demo's webhooks. */
async function open(config: Config, clock: DemoClock): Promise<INestApplication> {
  // The usual limits apply, so that the demo has refusals.
  const settings = { ...config, role: 'all', otpLimits: 'standard', mediaAllow: 'loopback' } as const;
  const time = { clock: { useValue: clock }, ids: { useValue: new DemoIds(clock) } };
  const app = await NestFactory.create(AppModule.with(settings, 'run', time), httpAdapter(config.httpAdapter), {
    abortOnError: false,
    forceCloseConnections: true,
    logger: new ProgramLogger(['fatal', 'error']),
  }).catch(databaseTrouble);
  await app.listen(config.port, config.host).catch(async (error: unknown) => {
    await app.close();
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new ConfigError(
      `Port ${config.port} is in use: stop the sample app first, because it would deliver the demo's messages with today's date.`,
    );
  });
  return app;
}

class Demo {
  private readonly chance = new Chance();
  private readonly phones: SandboxPhonesClient;
  private readonly traffic: DemoAccountTraffic;
  private readonly campaigns: DemoCampaigns;
  private readonly url: string;
  private readonly accounts: AccountService;
  private readonly ledger: LedgerService;
  private readonly signatures: SignatureService;

  constructor(
    private readonly app: INestApplication,
    private readonly config: Config,
    private readonly clock: DemoClock,
    private readonly say: (line: string) => void,
  ) {
    const { port }: AddressInfo = app.getHttpServer().address();
    this.url = baseUrl(config.host, port);
    this.phones = new SandboxPhonesClient(this.url);
    this.traffic = new DemoAccountTraffic(app, this.phones, this.chance, () => clock.now());
    this.campaigns = new DemoCampaigns(app);
    this.accounts = app.get(AccountService, { strict: false });
    this.ledger = app.get(LedgerService, { strict: false });
    this.signatures = app.get(SignatureService, { strict: false });
  }

  async run(): Promise<void> {
    const { accountId: first } = await this.app.get(DemoAccount).prepare(this.config);
    // Nothing in an account may be older than the account.
    const firstSince = (await this.accounts.findAccount(first))?.createdAt ?? 0;
    await this.openShop();
    const now = this.clock.now() + this.clock.behind;
    const rounds = roundsUntil(now);
    for (const [index, at] of rounds.entries()) {
      this.clock.set(at);
      if (index % HOURS.length === 0) this.say(`${new Date(at).toISOString().slice(0, 10)} …`);
      await this.happenings(index);
      await this.traffic.round({ accountId: SHOP.id, texts: SHOP_TEXTS, sends: 2, codes: 2, service: 'Faso Boutique' });
      if (at < firstSince) continue;
      await this.traffic.round({ accountId: first, texts: DEMO_TEXTS, sends: 1, codes: 1, service: 'Log-in' });
    }
    await this.ledger.topUp(SHOP.id, RUNNING_RECIPIENTS, { reference: 'FB-2026-052', note: 'Mobile money' });
    await this.campaigns.current();
    await this.scheduled();
    await this.callsMade();
  }

  /** Schedules SMS of the shop, and a message of its messaging app, for the next days. */
  private async scheduled(): Promise<void> {
    const sms = this.app.get(SmsService, { strict: false });
    const sends = [
      { content: 'Votre commande est prête, passez quand vous voulez.', number: CUSTOMERS.slice(0, 2), days: 1 },
      { content: 'Inventaire : la boutique ferme samedi à midi.', number: CUSTOMERS.slice(2, 12), days: 3 },
    ];
    for (const { content, number, days } of sends) {
      const send_at = new Date(this.clock.now() + days * DAY_MS).toISOString();
      await sms.send(SHOP.id, { signature: 'FASO SHOP', content, number, send_at });
    }
    const [to = ''] = CUSTOMERS;
    const send_at = new Date(this.clock.now() + 2 * DAY_MS).toISOString();
    const body = 'Bonjour, votre retouche sera prête cet après-midi.';
    await this.app.get(MsgappService, { strict: false }).sendText(SHOP.id, { to, body, send_at });
  }

  /** Makes the shop's account, units, key, signatures and webhooks. */
  private async openShop(): Promise<void> {
    const { id } = await this.accounts.createAccount(SHOP);
    await this.ledger.topUp(id, 750, { reference: 'FB-2026-031', note: 'Mobile money' });
    await this.accounts.setLowBalance(id, 150);
    await this.accounts.issueKey(id, { name: 'Boutique en ligne' });
    await this.accounts.issueKey(id, { name: 'Caisse', scopes: ['sms:send', 'messages:read'], dailyUnits: 200 });
    await this.signatures.register(id, 'FASO SHOP');
    await this.signatures.verify(id, 'FASO SHOP');
    const webhooks = this.app.get(WebhookService, { strict: false });
    const { url } = this;
    await webhooks.create(id, { url: `${url}/sandbox/hooks/boutique`, description: 'Caisse' });
    const types = ['optout.added', 'balance.low'];
    await webhooks.create(id, { url: `${url}/sandbox/ancienne-caisse`, types, description: 'Ancienne caisse' });
    await this.link(id, '22676010203');
  }

  /** Plays the scenes that happen only once, each in the round with its number. */
  private async happenings(round: number): Promise<void> {
    const { id } = SHOP;
    if (round % 5 === 2) {
      const text = this.chance.one(REPLIES);
      await this.phones.write(this.chance.one(CUSTOMERS.slice(0, 14)), 'FASO SHOP', text);
      await this.traffic.chat(id, 'Bonjour, votre commande vous attend à la boutique. Merci de votre confiance !');
    }
    switch (round) {
      case 4:
      case 44:
        await this.traffic.text(id, {
          signature: 'FASO SHOP',
          content: 'Votre colis est là.',
          number: [BUSY_CUSTOMER],
        });
        break;
      case 6:
        await this.signatures.register(id, 'GAGNEZ');
        break;
      case 9:
        await this.signatures.reject(id, 'GAGNEZ', 'Le nom doit être celui de la boutique.');
        await this.accounts.rotateKey((await this.accounts.issueKey(id, { name: 'Essai' })).id, { graceMs: DAY_MS });
        break;
      case 20:
        await this.app
          .get(OptOutService, { strict: false })
          .add({ accountId: id, signature: 'FASO SHOP' }, ['22666303132']);
        break;
      case 26:
        await this.link(id, '22676999888', 'unlinked');
        break;
      case 34:
        await this.ledger.topUp(id, 700, { reference: 'FB-2026-044', note: 'Mobile money' });
        break;
      case 38:
        await this.campaigns.completed();
        break;
      case 41:
        await this.ledger.adjust(id, -25, { reference: 'FB-2026-044-B', note: 'Erreur de saisie' });
        break;
      case 52:
        await this.signatures.register(id, 'FASO PROMO');
        break;
    }
  }

  /** Links a number of the messaging app by scanning the code, as its owner does. */
  private async link(accountId: string, number: string, then?: 'unlinked'): Promise<void> {
    const sessions = this.app.get(SessionManager, { strict: false });
    const { sessionID, qrToken } = await sessions.connect(accountId);
    const code = await sessions.currentQr(qrToken, 10_000, new AbortController().signal);
    if (!code) throw new Error('The sandbox shows no code.');
    await this.phones.scan(number, code.qr);
    await until(async () => (await sessions.status(accountId, sessionID)).status === 'connected');
    if (then === 'unlinked') await sessions.logout(accountId, sessionID);
  }

  /** Resolves when the shop's webhook has received everything. */
  private async callsMade(): Promise<void> {
    const webhooks = this.app.get(WebhookService, { strict: false });
    let seen = -1;
    await until(async () => {
      const { items } = await webhooks.list(SHOP.id);
      const sum = items.reduce((total, { last_sequence }) => total + last_sequence, 0);
      if (sum === seen) return true;
      seen = sum;
      // The calls are made some hundred milliseconds after their events.
      await pause(300);
      return false;
    });
  }
}

/** Returns the times of the rounds: some hours of each day, and a moment ago. */
function roundsUntil(now: number): readonly number[] {
  const today = now - (now % DAY_MS);
  const all = Array.from({ length: DAYS + 1 }, (_, day) => today - (DAYS - day) * DAY_MS).flatMap((day) =>
    HOURS.map((hour) => day + hour * HOUR_MS),
  );
  return [...all.filter((at) => at > now - DAYS * DAY_MS + 60_000 && at < now - 60_000), now];
}
