import {
  africasTalking,
  type HttpSmsOptions,
  type HttpVendor,
  infobip,
  orange,
  twilio,
  vonage,
} from 'nestjs-messaging/http';
import type { SmppLinkOptions, SmppOptions } from 'nestjs-messaging/smpp';
import { ConfigError, type Env, given, integer, oneOf, required } from './env.js';

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
  const name = required(env, 'HTTP_VENDOR', 'SMS_TRANSPORT=http');
  const vendor = VENDORS[oneOf('HTTP_VENDOR', name, VENDOR_NAMES)](env);
  return { transport, ...callback(env, vendor) };
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

/** Each reads the credentials of one vendor. */
const VENDORS = {
  twilio: (env: Env) =>
    twilio({
      accountSid: required(env, 'TWILIO_ACCOUNT_SID', 'HTTP_VENDOR=twilio'),
      authToken: required(env, 'TWILIO_AUTH_TOKEN', 'HTTP_VENDOR=twilio'),
      ...given(env, 'TWILIO_MESSAGING_SERVICE_SID', 'messagingServiceSid'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  vonage: (env: Env) =>
    vonage({
      apiKey: required(env, 'VONAGE_API_KEY', 'HTTP_VENDOR=vonage'),
      apiSecret: required(env, 'VONAGE_API_SECRET', 'HTTP_VENDOR=vonage'),
      ...given(env, 'VONAGE_SIGNATURE_SECRET', 'signatureSecret'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  infobip: (env: Env) =>
    infobip({
      apiKey: required(env, 'INFOBIP_API_KEY', 'HTTP_VENDOR=infobip'),
      baseUrl: required(env, 'HTTP_BASE_URL', 'HTTP_VENDOR=infobip'),
    }),
  africastalking: (env: Env) =>
    africasTalking({
      username: required(env, 'AFRICASTALKING_USERNAME', 'HTTP_VENDOR=africastalking'),
      apiKey: required(env, 'AFRICASTALKING_API_KEY', 'HTTP_VENDOR=africastalking'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  orange: (env: Env) =>
    orange({
      clientId: required(env, 'ORANGE_CLIENT_ID', 'HTTP_VENDOR=orange'),
      clientSecret: required(env, 'ORANGE_CLIENT_SECRET', 'HTTP_VENDOR=orange'),
      senderNumber: required(env, 'ORANGE_SENDER_NUMBER', 'HTTP_VENDOR=orange'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
} satisfies Readonly<Record<string, (env: Env) => HttpVendor>>;

const VENDOR_NAMES = Object.keys(VENDORS) as readonly (keyof typeof VENDORS)[];

/** Reads the address that the vendor calls with its receipts. */
function callback(env: Env, vendor: HttpVendor) {
  const base = env.PUBLIC_URL?.replace(/\/+$/, '') || undefined;
  const secret = given(env, 'CALLBACK_SECRET', 'callbackSecret');
  const url = base === undefined ? {} : { callbackUrl: `${base}/api/v1/sms/callbacks/${vendor.name}` };
  return { http: { vendor, ...url, ...secret }, callbackBaseUrl: base };
}
