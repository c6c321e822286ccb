import type { HttpSmsOptions, HttpVendor } from 'nestjs-messaging/http';
import type { SmppLinkOptions, SmppOptions } from 'nestjs-messaging/smpp';
import { ConfigError, type Env, given, integer, oneOf, required } from './env.js';
import { httpVendor } from './http-vendors.js';

/** The transport of SMS, with its settings. */
export type SmsConfig =
  | { readonly transport: 'sandbox' }
  | { readonly transport: 'smpp'; readonly smpp: SmppOptions }
  | { readonly transport: 'http'; readonly http: HttpSmsOptions; readonly callbackBaseUrl: string | undefined };

/** @throws ConfigError */
export function smsConfig(env: Env): SmsConfig {
  const transport = oneOf('SMS_TRANSPORT', env.SMS_TRANSPORT || 'sandbox', ['sandbox', 'smpp', 'http']);
  if (transport === 'sandbox') return { transport };
  if (transport === 'smpp') return { transport, smpp: { links: smppLinks(env) } };
  return { transport, ...gateway(env, httpVendor(env)) };
}

/**
 * Reads `SMPP_URL`: `smpp://user:password@host:2775`, or `ssmpp://…` for TLS. Several URLs, separated by commas, share the work.
 */
function smppLinks(env: Env): SmppLinkOptions[] {
  const urls = required(env, 'SMPP_URL', 'SMS_TRANSPORT=smpp').split(',');
  const window = integer('SMPP_WINDOW', env.SMPP_WINDOW || '10', 1, 1000);
  const rate = env.SMPP_PARTS_PER_SECOND;
  const partsPerSecond = rate ? integer('SMPP_PARTS_PER_SECOND', rate, 1, 100_000) : undefined;
  return urls.map((given) => {
    const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
    if (!url || !/^s?smpp:$/.test(url.protocol) || !url.hostname || !url.username) {
      // The message does not quote the value, because it contains a password.
      throw new ConfigError('SMPP_URL must be smpp://user:password@host:2775, or ssmpp://… for TLS.');
    }
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      systemId: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      longPassword: true,
      tls: url.protocol === 'ssmpp:',
      window,
      ...(partsPerSecond === undefined ? {} : { partsPerSecond }),
    };
  });
}

/** Reads how the vendor is reached, and the address that it calls with its receipts. */
function gateway(env: Env, vendor: HttpVendor) {
  const base = env.PUBLIC_URL?.replace(/\/+$/, '') || undefined;
  const secret = given(env, 'CALLBACK_SECRET', 'callbackSecret');
  const url = base === undefined ? {} : { callbackUrl: `${base}/api/v1/sms/callbacks/${vendor.name}` };
  const hosts = env.HTTP_PRIVATE_HOSTS ? { allowHttp: env.HTTP_PRIVATE_HOSTS.split(',') } : {};
  const home = given(env, 'HTTP_HOME', 'home');
  return { http: { vendor, ...url, ...secret, ...hosts, ...home }, callbackBaseUrl: base };
}
