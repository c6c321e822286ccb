import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isApiKey } from 'nestjs-messaging';
import { ConfigError, integer, oneOf, required } from './env.js';
import { type SmsConfig, smsConfig } from './sms-config.js';

export { ConfigError } from './env.js';

/** All settings of the sample app. Only this folder reads the environment. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** The name in `HOST`, if it is a name and not an address. The sandbox answers requests for it and for `localhost`. */
  readonly hostNames: readonly string[];
  /** `sqlite:<path>`, `postgres://…` or `mysql://…` */
  readonly databaseUrl: string;
  /** The file that keeps generated secrets. */
  readonly secretsFile: string;
  readonly demoBalance: number;
  readonly demoApiKey: string | undefined;
  readonly homeCountry: string;
  readonly httpAdapter: 'express' | 'fastify';
  readonly sms: SmsConfig;
  /** The secret that codes are derived from. Undefined: it is generated once and kept. */
  readonly otpPepper: string | undefined;
  readonly otpLimits: 'standard' | 'strict' | 'none';
  readonly otpValiditySeconds: number;
  readonly msgappTransport: 'sandbox' | 'baileys' | 'whatsapp-cloud';
  /** The secrets of the app at Meta. Undefined on another transport. */
  readonly whatsappCloud: { readonly appSecret: string; readonly verifyToken: string } | undefined;
  /** The secret that encrypts the credentials of linked numbers. Undefined: it is generated once and kept. */
  readonly credentialsKey: string | undefined;
  /**
   * The secret that the secrets of webhooks are derived from. Undefined: on the sandbox it is generated once and kept. Off the
   * sandbox there are no webhooks.
   */
  readonly webhookPepper: string | undefined;
  /**
   * The secret that encrypts the secrets of log-in hooks. Undefined: on the sandbox it is generated once and kept. Off the
   * sandbox there are no log-in hooks.
   */
  readonly hookPepper: string | undefined;
  /**
   * The secret that signs access tokens. Undefined: on the sandbox it is generated once and kept. Off the sandbox there is no
   * dashboard.
   */
  readonly managementSecret: string | undefined;
  /** The secret that a scraper of metrics sends. Undefined: no metrics. */
  readonly metricsSecret: string | undefined;
  /** The origins besides public addresses from which files of messages may be fetched. */
  readonly mediaAllow: 'none' | 'loopback' | readonly string[];
  /** The work that this process does. */
  readonly role: 'all' | 'api' | 'worker' | 'sessions';
}

const DATA = resolve(dirname(fileURLToPath(import.meta.url)), '../../data');

/** @throws ConfigError */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const databaseUrl = env.DATABASE_URL || `sqlite:${DATA}/messaging.db`;
  const sms = smsConfig(env);
  const host = env.HOST || '127.0.0.1';
  const msgappTransport = oneOf('MSGAPP_TRANSPORT', env.MSGAPP_TRANSPORT || 'sandbox', [
    'sandbox',
    'baileys',
    'whatsapp-cloud',
  ]);
  // If one channel reaches real phones, both need real secrets, even if the other channel is on the sandbox.
  const off = ifOff('SMS_TRANSPORT', sms.transport) ?? ifOff('MSGAPP_TRANSPORT', msgappTransport);
  const onSandbox = off === undefined;
  return {
    port: integer('PORT', env.PORT || '3000', 0, 65_535),
    host,
    hostNames: isIP(host) === 0 ? [host] : [],
    databaseUrl: checkedDatabase(databaseUrl),
    secretsFile:
      databaseUrl.startsWith('sqlite:') && databaseUrl !== 'sqlite::memory:'
        ? `${databaseUrl.slice('sqlite:'.length)}.secrets.json`
        : `${DATA}/secrets.json`,
    demoBalance: integer('DEMO_BALANCE', env.DEMO_BALANCE || '1000', 0, 1_000_000_000),
    demoApiKey: demoApiKey(env.DEMO_API_KEY || undefined),
    homeCountry: env.HOME_COUNTRY || 'BF',
    httpAdapter: oneOf('HTTP_ADAPTER', env.HTTP_ADAPTER || 'express', ['express', 'fastify']),
    sms,
    otpLimits: oneOf('OTP_LIMITS', env.OTP_LIMITS || (onSandbox ? 'none' : 'standard'), ['standard', 'strict', 'none']),
    otpValiditySeconds: integer('OTP_VALIDITY_SECONDS', env.OTP_VALIDITY_SECONDS || '300', 1, 3600),
    msgappTransport,
    whatsappCloud:
      msgappTransport === 'whatsapp-cloud'
        ? {
            appSecret: required(env, 'WHATSAPP_APP_SECRET', 'MSGAPP_TRANSPORT=whatsapp-cloud'),
            verifyToken: required(env, 'WHATSAPP_VERIFY_TOKEN', 'MSGAPP_TRANSPORT=whatsapp-cloud'),
          }
        : undefined,
    mediaAllow: mediaAllow(env.MEDIA_ALLOW || (onSandbox ? 'loopback' : 'none')),
    ...secrets(env, off),
    webhookPepper: env.WEBHOOK_PEPPER || undefined,
    hookPepper: env.HOOK_PEPPER || undefined,
    managementSecret: env.MANAGEMENT_SECRET || undefined,
    metricsSecret: env.METRICS_SECRET || undefined,
    role: oneOf('ROLE', env.ROLE || 'all', ['all', 'api', 'worker', 'sessions']),
  };
}

/** Whether neither channel reaches real phones. */
export function isOnSandbox({ sms, msgappTransport }: Config): boolean {
  return sms.transport === 'sandbox' && msgappTransport === 'sandbox';
}

function ifOff(name: string, transport: string): string | undefined {
  return transport === 'sandbox' ? undefined : `${name}=${transport}`;
}

/**
 * Off the sandbox no secret is generated, because a lost secret is expensive: without the key all linked numbers are lost, and
 * without the pepper all pending codes.
 * @param off the setting that leaves the sandbox. Undefined on the sandbox
 */
function secrets(env: NodeJS.ProcessEnv, off: string | undefined): Pick<Config, 'otpPepper' | 'credentialsKey'> {
  const credentialsKey = env.CREDENTIALS_KEY || undefined;
  const otpPepper = env.OTP_PEPPER || undefined;
  const missing = Object.entries({ CREDENTIALS_KEY: credentialsKey, OTP_PEPPER: otpPepper }).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  if (off !== undefined && missing.length > 0) {
    const sentences = missing.map(
      (name) =>
        `${name} is missing; ${off} needs one. Make it with "openssl rand -base64 48" and keep it outside the database.`,
    );
    throw new ConfigError(sentences.join('\n'));
  }
  if (credentialsKey !== undefined && credentialsKey.length < 32) {
    throw new ConfigError('CREDENTIALS_KEY must have at least 32 random characters.');
  }
  return { otpPepper, credentialsKey };
}

function mediaAllow(value: string): Config['mediaAllow'] {
  if (value === 'none' || value === 'loopback') return value;
  const origins = value.split(',').map((origin) => origin.trim());
  if (origins.every((origin) => /^https?:\/\/[^/]+$/.test(origin))) return origins;
  throw new ConfigError(
    `MEDIA_ALLOW must be none, loopback, or origins with commas between them, such as https://files.example.com; it is "${value}".`,
  );
}

function checkedDatabase(url: string): string {
  if (/^(sqlite:.|postgres(ql)?:\/\/|mysql:\/\/|mariadb:\/\/)/.test(url)) return url;
  throw new ConfigError('DATABASE_URL must be sqlite:<path>, postgres://… or mysql://…');
}

/** Checks the key before anything is written. Otherwise a refused key would leave an account behind. */
function demoApiKey(given: string | undefined): string | undefined {
  if (given === undefined || isApiKey(given)) return given;
  throw new ConfigError('DEMO_API_KEY is not a well-formed API key (msgk_…).');
}
