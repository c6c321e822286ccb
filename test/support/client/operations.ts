import type { CampaignOrder } from '../../../src/client/campaigns.js';
import type { LoginHookOrder } from '../../../src/client/hooks.js';
import type { MessagingClient } from '../../../src/client/messaging-client.js';
import type { WebhookOrder } from '../../../src/client/webhooks.js';

/** A method of the client: its name, and a call of it with every possible argument. */
export interface ClientMethod {
  readonly method: string;
  readonly call: (client: MessagingClient) => Promise<unknown>;
}

const NUMBER = '22670000000';
const WINDOW = { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5], zone: 'recipient' } as const;
const SMS = {
  signature: 'INFOS',
  content: 'Bonjour',
  number: [NUMBER],
  to: [{ number: NUMBER, vars: { name: 'Awa' } }],
  template: 'parcel-arrived',
  priority: 'bulk',
  window: WINDOW,
  send_at: '2026-11-28T10:00:00Z',
  valid_for: 3600,
  metadata: { order: '4711' },
} as const;
const MESSAGE = {
  reply_to: 'one',
  to: NUMBER,
  from: '22670000100',
  priority: 'high',
  window: WINDOW,
  metadata: { order: '4711' },
  send_at: '2026-11-28T08:00:00Z',
  valid_for: 3600,
} as const;
const WEBHOOK: WebhookOrder = {
  url: 'https://a.example/hook',
  types: ['balance.low'],
  ordering: 'strict',
  batch: { max: 1, wait_ms: 0 },
  signature: 'hmac',
  description: 'shop',
};
const HOOK: LoginHookOrder = {
  kind: 'generic',
  signature: 'INFOS',
  name: 'Boutique',
  channel: 'sms',
  secret: '0123456789abcdef',
  limits: { max_segments: 1, daily_units: 100 },
  mapping: { number: '/to', code: '/code', text: '/text', id: '/id', valid_for: '/seconds' },
  proof: { kind: 'hmac', header: 'X-Signature', encoding: 'hex' },
};
const CAMPAIGN: CampaignOrder = {
  name: 'Soldes',
  signature: 'INFOS',
  content: 'Bonjour {name}',
  send_at: '2026-11-28T10:00:00Z',
  per_minute: 600,
  valid_for: 86_400,
  window: { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5] },
  national: true,
  metadata: { order: '4711' },
};
const PERIOD = { since: '2026-11-21', until: '2026-11-22' };

/** The client's method for each operation of the API, by the operation's id. */
export const METHODS: Readonly<Record<string, ClientMethod>> = {
  sendSms: { method: 'sms.send', call: ({ sms }) => sms.send(SMS) },
  quoteSms: {
    method: 'sms.quote',
    call: ({ sms }) => sms.quote({ content: 'Bonjour', template: 'a', number: [NUMBER], to: [{ number: NUMBER }] }),
  },
  createTemplate: {
    method: 'templates.create',
    call: ({ templates }) =>
      templates.create({ name: 'parcel-arrived', content: 'Bonjour {name}', signature: 'INFOS' }),
  },
  listTemplates: { method: 'templates.list', call: ({ templates }) => templates.list({ limit: 1 }).page('next') },
  getTemplate: { method: 'templates.get', call: ({ templates }) => templates.get('parcel-arrived') },
  replaceTemplate: {
    method: 'templates.replace',
    call: ({ templates }) => templates.replace('parcel-arrived', { content: 'Bonjour {name}', signature: 'INFOS' }),
  },
  removeTemplate: { method: 'templates.remove', call: ({ templates }) => templates.remove('parcel-arrived') },
  getSms: { method: 'sms.get', call: ({ sms }) => sms.get('one') },
  rescheduleSms: {
    method: 'sms.reschedule',
    call: ({ sms }) =>
      sms.reschedule('one', { send_at: '2026-12-01T08:00:00Z', valid_for: 60, window: { from: '08:00', to: '20:00' } }),
  },
  cancelSms: { method: 'sms.cancel', call: ({ sms }) => sms.cancel('one', { number: NUMBER }) },
  listSms: {
    method: 'sms.list',
    call: ({ sms }) =>
      sms
        .list({
          limit: 1,
          scheduled: true,
          status: 'sent',
          number: NUMBER,
          signature: 'INFOS',
          metadata: { order: '4711' },
          ...PERIOD,
        })
        .page('next'),
  },
  listSmsRecipients: {
    method: 'sms.recipients',
    call: ({ sms }) => sms.recipients('one', { limit: 1, status: 'sent' }).page('next'),
  },
  sendOtp: {
    method: 'otp.send',
    call: ({ otp }) => otp.send({ service: 'Boutique', number: NUMBER, channel: 'sms', metadata: { order: '4711' } }),
  },
  verifyOtp: {
    method: 'otp.verify',
    call: ({ otp }) => otp.verify({ otp: '1234', service: 'Boutique', number: NUMBER }),
  },
  getBalance: { method: 'balance', call: (client) => client.balance() },
  cancelMsgappMessage: {
    method: 'msgapp.cancel',
    call: (client) => client.msgapp().cancel('one', { number: NUMBER }),
  },
  connectMsgapp: {
    method: 'msgapp.connect',
    call: (client) => client.msgapp().connect({ phone_number_id: '106540352242922', access_token: 'EAAG' }),
  },
  getMsgappSessions: { method: 'msgapp.sessions', call: (client) => client.msgapp().sessions({ sessionID: 'one' }) },
  logoutMsgapp: { method: 'msgapp.logout', call: (client) => client.msgapp().logout('one') },
  watchMsgappCode: {
    method: 'msgapp.watchCode',
    call: (client) => opened((signal) => client.msgapp().watchCode('token', { signal })),
  },
  getMsgappCodeImage: { method: 'msgapp.codeImage', call: (client) => client.msgapp().codeImage('token') },
  sendMsgappText: {
    method: 'msgapp.sendText',
    call: (client) => client.msgapp().sendText({ ...MESSAGE, body: 'Bonjour' }),
  },
  sendMsgappMedia: {
    method: 'msgapp.sendMedia',
    call: (client) =>
      client.msgapp().sendMedia({ ...MESSAGE, mediaUrl: 'https://a.example/b', mediaType: 'image', caption: 'a' }),
  },
  listEvents: {
    method: 'events.list',
    call: ({ events }) => events.list({ types: ['balance.low'], limit: 1, wait: 25 }).page(7),
  },
  streamEvents: {
    method: 'events.stream',
    call: ({ events }) => opened((signal) => events.stream({ after: 7, types: ['balance.low'], signal })),
  },
  listEventTypes: { method: 'events.types', call: ({ events }) => events.types() },
  createWebhook: { method: 'webhooks.create', call: ({ webhooks }) => webhooks.create(WEBHOOK) },
  listWebhooks: { method: 'webhooks.list', call: ({ webhooks }) => webhooks.list({ limit: 1 }).page('next') },
  getWebhook: { method: 'webhooks.get', call: ({ webhooks }) => webhooks.get('one') },
  changeWebhook: { method: 'webhooks.update', call: ({ webhooks }) => webhooks.update('one', WEBHOOK) },
  deleteWebhook: { method: 'webhooks.remove', call: ({ webhooks }) => webhooks.remove('one') },
  rotateWebhook: { method: 'webhooks.rotate', call: ({ webhooks }) => webhooks.rotate('one', { keep_hours: 1 }) },
  testWebhook: { method: 'webhooks.test', call: ({ webhooks }) => webhooks.test('one') },
  replayWebhook: {
    method: 'webhooks.replay',
    call: ({ webhooks }) => webhooks.replay('one', { after: 7, types: ['*'], only_failed: true, ...PERIOD }),
  },
  enableWebhook: { method: 'webhooks.enable', call: ({ webhooks }) => webhooks.enable('one') },
  disableWebhook: { method: 'webhooks.disable', call: ({ webhooks }) => webhooks.disable('one') },
  listWebhookAttempts: {
    method: 'webhooks.attempts',
    call: ({ webhooks }) => webhooks.attempts('one', { limit: 1, status: 'failed' }).page('next'),
  },
  retryWebhookAttempt: { method: 'webhooks.retry', call: ({ webhooks }) => webhooks.retry('one', 7) },
  createLoginHook: { method: 'hooks.create', call: ({ hooks }) => hooks.create(HOOK) },
  listLoginHooks: { method: 'hooks.list', call: ({ hooks }) => hooks.list() },
  getLoginHook: { method: 'hooks.get', call: ({ hooks }) => hooks.get('one') },
  deleteLoginHook: { method: 'hooks.remove', call: ({ hooks }) => hooks.remove('one') },
  rotateLoginHook: {
    method: 'hooks.rotate',
    call: ({ hooks }) => hooks.rotate('one', { secret: '0123456789abcdef', keep_hours: 1 }),
  },
  enableLoginHook: { method: 'hooks.enable', call: ({ hooks }) => hooks.enable('one') },
  disableLoginHook: { method: 'hooks.disable', call: ({ hooks }) => hooks.disable('one') },
  testLoginHook: { method: 'hooks.test', call: ({ hooks }) => hooks.test('one', { number: NUMBER }) },
  listLoginHookCalls: { method: 'hooks.calls', call: ({ hooks }) => hooks.calls('one') },
  createCampaign: {
    method: 'campaigns.create',
    call: ({ campaigns }) => campaigns.create({ ...CAMPAIGN, template: 'soldes' }),
  },
  listCampaigns: { method: 'campaigns.list', call: ({ campaigns }) => campaigns.list({ limit: 1 }).page('next') },
  getCampaign: { method: 'campaigns.get', call: ({ campaigns }) => campaigns.get('one') },
  deleteCampaign: { method: 'campaigns.remove', call: ({ campaigns }) => campaigns.remove('one') },
  importCampaignRecipients: {
    method: 'campaigns.addRecipients',
    call: ({ campaigns }) => campaigns.addRecipients('one', new Blob(['mobile\n22670000000\n']), { column: 'mobile' }),
  },
  listCampaignRecipients: {
    method: 'campaigns.recipients',
    call: ({ campaigns }) => campaigns.recipients('one', { limit: 1, status: 'sent' }).page('next'),
  },
  quoteCampaign: { method: 'campaigns.quote', call: ({ campaigns }) => campaigns.quote('one') },
  testCampaign: {
    method: 'campaigns.test',
    call: ({ campaigns }) => campaigns.test('one', { number: NUMBER, vars: { name: 'Awa' } }),
  },
  startCampaign: { method: 'campaigns.start', call: ({ campaigns }) => campaigns.start('one') },
  pauseCampaign: { method: 'campaigns.pause', call: ({ campaigns }) => campaigns.pause('one') },
  resumeCampaign: { method: 'campaigns.resume', call: ({ campaigns }) => campaigns.resume('one') },
  cancelCampaign: { method: 'campaigns.cancel', call: ({ campaigns }) => campaigns.cancel('one') },
  listMsgappMessages: {
    method: 'msgapp.messages',
    call: (client) => {
      const query = { limit: 1, scheduled: true, status: 'read', metadata: { order: '4711' }, ...PERIOD } as const;
      return client
        .msgapp()
        .messages({ to: NUMBER, from: NUMBER, ...query })
        .page('next');
    },
  },
  markReceivedMsgapp: { method: 'msgapp.seen', call: (client) => client.msgapp().seen('one') },
  reactToReceivedMsgapp: { method: 'msgapp.react', call: (client) => client.msgapp().react('one', '👍') },
  getReceivedMsgappMedia: { method: 'msgapp.receivedMedia', call: (client) => client.msgapp().receivedMedia('one') },
  getMsgappMessage: { method: 'msgapp.message', call: (client) => client.msgapp().message('one') },
};

/** The methods for the same operations that answer with a CSV file. */
export const CSV_METHODS: Readonly<Record<string, ClientMethod>> = {
  listCampaignRecipients: {
    method: 'campaigns.recipientsCsv',
    call: ({ campaigns }) => campaigns.recipientsCsv('one', { status: 'sent' }),
  },
};

/** Opens a stream and leaves it. */
export async function opened(open: (signal: AbortSignal) => AsyncGenerator<unknown>): Promise<void> {
  const controller = new AbortController();
  const first = open(controller.signal).next();
  // The request is made within this turn, except for the credentials, which are requested first.
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await first.catch(() => {});
}
