import {
  africasTalking,
  type HttpVendor,
  httpsms,
  infobip,
  jasmin,
  kannel,
  mtn,
  orange,
  smsgate,
  textbee,
  twilio,
  vonage,
} from 'nestjs-messaging/http';
import { type Env, given, integer, oneOf, required } from './env.js';

/** Reads the vendor of SMS_TRANSPORT=http with its credentials. @throws ConfigError */
export function httpVendor(env: Env): HttpVendor {
  const name = required(env, 'SMS_HTTP_VENDOR', 'SMS_TRANSPORT=http');
  return VENDORS[oneOf('SMS_HTTP_VENDOR', name, VENDOR_NAMES)](env);
}

/** Each reads the credentials of one vendor. */
const VENDORS = {
  twilio: (env: Env) =>
    twilio({
      accountSid: required(env, 'TWILIO_ACCOUNT_SID', 'SMS_HTTP_VENDOR=twilio'),
      authToken: required(env, 'TWILIO_AUTH_TOKEN', 'SMS_HTTP_VENDOR=twilio'),
      ...given(env, 'TWILIO_MESSAGING_SERVICE_SID', 'messagingServiceSid'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  vonage: (env: Env) =>
    vonage({
      apiKey: required(env, 'VONAGE_API_KEY', 'SMS_HTTP_VENDOR=vonage'),
      apiSecret: required(env, 'VONAGE_API_SECRET', 'SMS_HTTP_VENDOR=vonage'),
      ...given(env, 'VONAGE_SIGNATURE_SECRET', 'signatureSecret'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  infobip: (env: Env) =>
    infobip({
      apiKey: required(env, 'INFOBIP_API_KEY', 'SMS_HTTP_VENDOR=infobip'),
      baseUrl: required(env, 'HTTP_BASE_URL', 'SMS_HTTP_VENDOR=infobip'),
    }),
  africastalking: (env: Env) =>
    africasTalking({
      username: required(env, 'AFRICASTALKING_USERNAME', 'SMS_HTTP_VENDOR=africastalking'),
      apiKey: required(env, 'AFRICASTALKING_API_KEY', 'SMS_HTTP_VENDOR=africastalking'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  orange: (env: Env) =>
    orange({
      clientId: required(env, 'ORANGE_CLIENT_ID', 'SMS_HTTP_VENDOR=orange'),
      clientSecret: required(env, 'ORANGE_CLIENT_SECRET', 'SMS_HTTP_VENDOR=orange'),
      senderNumber: required(env, 'ORANGE_SENDER_NUMBER', 'SMS_HTTP_VENDOR=orange'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  smsgate: (env: Env) =>
    smsgate({
      username: required(env, 'SMSGATE_USERNAME', 'SMS_HTTP_VENDOR=smsgate'),
      password: required(env, 'SMSGATE_PASSWORD', 'SMS_HTTP_VENDOR=smsgate'),
      local: env.SMSGATE_LOCAL === 'true',
      ...given(env, 'SMSGATE_DEVICE_ID', 'deviceId'),
      ...given(env, 'SMSGATE_FROM', 'from'),
      ...given(env, 'SMSGATE_SIGNING_KEY', 'signingKey'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  httpsms: (env: Env) =>
    httpsms({
      apiKey: required(env, 'HTTPSMS_API_KEY', 'SMS_HTTP_VENDOR=httpsms'),
      from: required(env, 'HTTPSMS_FROM', 'SMS_HTTP_VENDOR=httpsms'),
      ...given(env, 'HTTPSMS_SIGNING_KEY', 'signingKey'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  textbee: (env: Env) =>
    textbee({
      apiKey: required(env, 'TEXTBEE_API_KEY', 'SMS_HTTP_VENDOR=textbee'),
      deviceId: required(env, 'TEXTBEE_DEVICE_ID', 'SMS_HTTP_VENDOR=textbee'),
      from: required(env, 'TEXTBEE_FROM', 'SMS_HTTP_VENDOR=textbee'),
      ...given(env, 'TEXTBEE_SIGNING_SECRET', 'signingSecret'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
  kannel: (env: Env) =>
    kannel({
      username: required(env, 'KANNEL_USERNAME', 'SMS_HTTP_VENDOR=kannel'),
      password: required(env, 'KANNEL_PASSWORD', 'SMS_HTTP_VENDOR=kannel'),
      baseUrl: required(env, 'HTTP_BASE_URL', 'SMS_HTTP_VENDOR=kannel'),
      ...maxSegments(env, 'KANNEL_MAX_MESSAGES'),
    }),
  jasmin: (env: Env) =>
    jasmin({
      username: required(env, 'JASMIN_USERNAME', 'SMS_HTTP_VENDOR=jasmin'),
      password: required(env, 'JASMIN_PASSWORD', 'SMS_HTTP_VENDOR=jasmin'),
      baseUrl: required(env, 'HTTP_BASE_URL', 'SMS_HTTP_VENDOR=jasmin'),
      ...maxSegments(env, 'JASMIN_MAX_PARTS'),
    }),
  mtn: (env: Env) =>
    mtn({
      clientId: required(env, 'MTN_CLIENT_ID', 'SMS_HTTP_VENDOR=mtn'),
      clientSecret: required(env, 'MTN_CLIENT_SECRET', 'SMS_HTTP_VENDOR=mtn'),
      ...given(env, 'HTTP_BASE_URL', 'baseUrl'),
    }),
} satisfies Readonly<Record<string, (env: Env) => HttpVendor>>;

const VENDOR_NAMES = Object.keys(VENDORS) as readonly (keyof typeof VENDORS)[];

/** Reads how many segments the gateway is configured to send. */
function maxSegments(env: Env, name: string): { readonly maxSegments?: number } {
  const value = env[name];
  return value ? { maxSegments: integer(name, value, 1, 255) } : {};
}
