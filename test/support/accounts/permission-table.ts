import type { AccountRole, KeyScope, OperatorRole } from '../../../src/accounts/keys/permissions.js';

/**
 * Who may use a route, as documented (sections 3 to 6, 10 to 14 of the contract), written down without looking at the
 * code.
 */
export interface RouteRule {
  /** The scopes that a key needs, all of them; `none`: no key may use it; `any`: every key may. */
  readonly key: readonly KeyScope[] | 'none' | 'any';
  /** The lowest role of the account's users; undefined: none of them. */
  readonly user?: AccountRole;
  /** The lowest role of the operator's users; undefined: none of them. */
  readonly operator?: OperatorRole;
  /** Whether an operator names the account in `?account=`. */
  readonly named?: boolean;
  /** Whether a user whose token has no role may use it. */
  readonly plain?: boolean;
}

/** Everybody may use it, without a credential. */
export const OPEN = 'open';

const send = (scope: KeyScope): RouteRule => ({ key: [scope], user: 'sender', plain: true });
const cancel = (scope: KeyScope): RouteRule => ({ ...send(scope), operator: 'operator', named: true });
const lookUp = (scope: KeyScope): RouteRule => ({
  key: [scope],
  user: 'viewer',
  plain: true,
  operator: 'support',
  named: true,
});
const events: RouteRule = { key: ['events:read'], user: 'viewer', operator: 'support', named: true };
const webhooks: RouteRule = {
  key: ['webhooks:write', 'events:read'],
  user: 'developer',
  operator: 'operator',
  named: true,
};
const loginHooks = (...key: readonly KeyScope[]): RouteRule => ({
  key,
  user: 'developer',
  operator: 'operator',
  named: true,
});
const readLoginHooks: RouteRule = { key: ['hooks:write'], user: 'developer', operator: 'support', named: true };
const campaigns = (user: AccountRole, operator: OperatorRole): RouteRule => ({
  key: ['campaigns:write'],
  user,
  operator,
  named: true,
});
/** For users of the account only. */
const read = (user: AccountRole): RouteRule => ({ key: 'none', user, operator: 'support', named: true });
const write = (user: AccountRole): RouteRule => ({ key: 'none', user, operator: 'operator', named: true });
const manage = (operator: OperatorRole): RouteRule => ({ key: 'none', operator });

/** By method and path below our prefix, with `:id` for each parameter. */
export const PERMISSION_TABLE: Readonly<Record<string, RouteRule | typeof OPEN>> = {
  'POST /send/sms': send('sms:send'),
  'POST /sms/quote': send('sms:send'),
  'POST /templates': { ...send('sms:send'), operator: 'operator', named: true },
  'GET /templates': lookUp('sms:send'),
  'GET /templates/:id': lookUp('sms:send'),
  'PUT /templates/:id': { ...send('sms:send'), operator: 'operator', named: true },
  'DELETE /templates/:id': { ...send('sms:send'), operator: 'operator', named: true },
  'GET /sms': lookUp('messages:read'),
  'GET /sms/:id': lookUp('messages:read'),
  'GET /sms/:id/recipients': lookUp('messages:read'),
  'PATCH /sms/:id': { ...cancel('sms:send'), key: ['sms:send', 'messages:read'] },
  'DELETE /sms/:id': cancel('sms:send'),
  'POST /send/otp': send('otp:send'),
  'POST /verify/otp': send('otp:verify'),
  'GET /balance': lookUp('balance:read'),

  'POST /msgapp/web/connect': {
    key: ['msgapp:connect'],
    user: 'developer',
    plain: true,
    operator: 'operator',
    named: true,
  },
  'GET /msgapp/web/status': lookUp('msgapp:connect'),
  'DELETE /msgapp/web/:id': {
    key: ['msgapp:connect'],
    user: 'developer',
    plain: true,
    operator: 'operator',
    named: true,
  },
  'POST /msgapp/send/text': send('msgapp:send'),
  'POST /msgapp/send/media': send('msgapp:send'),
  'POST /msgapp/received/:id/seen': send('msgapp:send'),
  'POST /msgapp/received/:id/react': send('msgapp:send'),
  'DELETE /msgapp/messages/:id': cancel('msgapp:send'),
  'GET /msgapp/messages': lookUp('messages:read'),
  'GET /msgapp/messages/:id': lookUp('messages:read'),
  // A file cannot be masked.
  'GET /msgapp/received/:id/media': { ...lookUp('messages:read'), operator: 'operator' },
  'GET /msgapp/web/qr/:id': OPEN,
  'GET /msgapp/web/qr/:id/image': OPEN,
  'POST /msgapp/callbacks/:id': OPEN,
  'GET /msgapp/callbacks/:id': OPEN,
  'POST /sms/callbacks/:id': OPEN,
  'POST /sms/callbacks/:id/:id': OPEN,
  'GET /sms/callbacks/:id': OPEN,
  'GET /sms/callbacks/:id/:id': OPEN,

  'GET /events': events,
  'GET /events/stream': events,
  'GET /events/types': events,
  'GET /hooks': readLoginHooks,
  'GET /hooks/:id': readLoginHooks,
  'GET /hooks/:id/calls': readLoginHooks,
  'POST /hooks': loginHooks('hooks:write', 'otp:send'),
  'POST /hooks/:id': OPEN,
  'DELETE /hooks/:id': loginHooks('hooks:write', 'otp:send'),
  'POST /hooks/:id/rotate': loginHooks('hooks:write', 'otp:send'),
  'POST /hooks/:id/enable': loginHooks('hooks:write', 'otp:send'),
  'POST /hooks/:id/disable': loginHooks('hooks:write', 'otp:send'),
  'POST /hooks/:id/test': loginHooks('hooks:write', 'otp:send'),
  'GET /webhooks/types': events,
  'GET /webhooks': events,
  'GET /webhooks/:id': events,
  'GET /webhooks/:id/attempts': events,
  'POST /webhooks': webhooks,
  'PATCH /webhooks/:id': webhooks,
  'DELETE /webhooks/:id': webhooks,
  'POST /webhooks/:id/rotate': webhooks,
  'POST /webhooks/:id/test': webhooks,
  'POST /webhooks/:id/replay': webhooks,
  'POST /webhooks/:id/enable': webhooks,
  'POST /webhooks/:id/disable': webhooks,
  'POST /webhooks/:id/attempts/:id/retry': webhooks,

  'GET /campaigns': campaigns('viewer', 'support'),
  'GET /campaigns/:id': campaigns('viewer', 'support'),
  'GET /campaigns/:id/recipients': campaigns('viewer', 'support'),
  'POST /campaigns/:id/quote': campaigns('viewer', 'support'),
  'POST /campaigns': campaigns('sender', 'operator'),
  'DELETE /campaigns/:id': campaigns('sender', 'operator'),
  'POST /campaigns/:id/recipients': campaigns('sender', 'operator'),
  'POST /campaigns/:id/pause': campaigns('sender', 'operator'),
  'POST /campaigns/:id/cancel': campaigns('sender', 'operator'),
  'POST /campaigns/:id/test': { key: ['campaigns:write'], user: 'sender' },
  'POST /campaigns/:id/start': { key: ['campaigns:write'], user: 'sender' },
  'POST /campaigns/:id/resume': { key: ['campaigns:write'], user: 'sender' },

  'POST /session/exchange': OPEN,
  'POST /session/refresh': OPEN,
  'POST /session/end': OPEN,

  'GET /me': { key: 'any', user: 'viewer', operator: 'support' },
  'GET /keys': read('developer'),
  'POST /keys': write('developer'),
  'POST /keys/:id/rotate': write('developer'),
  'DELETE /keys/:id': write('developer'),
  'GET /signatures': read('viewer'),
  'POST /signatures': write('developer'),
  'DELETE /signatures/:id': write('developer'),
  'GET /ledger': read('viewer'),
  'GET /usage': read('viewer'),
  'GET /overview': read('viewer'),
  'GET /codes': read('viewer'),
  'GET /optouts': read('viewer'),
  'POST /optouts': write('sender'),
  'DELETE /optouts/:id': write('sender'),
  'GET /audit': read('developer'),

  'GET /manage/accounts': manage('support'),
  'POST /manage/accounts': manage('operator'),
  'GET /manage/accounts/:id': manage('support'),
  'PATCH /manage/accounts/:id': manage('operator'),
  'POST /manage/accounts/:id/suspend': manage('operator'),
  'POST /manage/accounts/:id/resume': manage('operator'),
  'POST /manage/accounts/:id/close': manage('operator'),
  'POST /manage/accounts/:id/topups': manage('finance'),
  'POST /manage/accounts/:id/adjustments': manage('finance'),
  'POST /manage/accounts/:id/signatures/:id/verify': manage('operator'),
  'POST /manage/accounts/:id/signatures/:id/reject': manage('operator'),
  'GET /manage/signatures': manage('support'),
  'POST /manage/links': manage('operator'),
  'GET /manage/carriers': manage('support'),
  'POST /manage/carriers/:id/rest': manage('operator'),
  'POST /manage/carriers/:id/resume': manage('operator'),
  'GET /manage/queue': manage('support'),
  'POST /manage/queue/pause': manage('operator'),
  'POST /manage/queue/resume': manage('operator'),
  'GET /manage/sessions': manage('support'),
  'DELETE /manage/sessions/:id': manage('operator'),
  'GET /manage/optouts': manage('support'),
  'POST /manage/optouts': manage('operator'),
  'DELETE /manage/optouts/:id': manage('operator'),
  'POST /manage/ledger/check': manage('operator'),
  'GET /manage/ledger/check': manage('support'),
  'GET /manage/ledger/check/stream': manage('support'),
  'GET /manage/audit': manage('support'),
  'GET /manage/system': manage('support'),
  'GET /manage/health': manage('support'),

  'GET /health': OPEN,
  'GET /health/live': OPEN,
  'GET /health/ready': OPEN,
  'GET /metrics': OPEN,
};

/** The name of a route in the table. */
export function ruleName({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/^\/api\/v1/, '').replaceAll(/:\w+/g, ':id')}`;
}
