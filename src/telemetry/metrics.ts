import { WORKING_STATUSES } from '../campaigns/campaign.api.js';
import type { ErrorCode } from '../common/errors.js';
import type { HistogramMetric, Metric } from '../common/telemetry/telemetry.js';
import { PUBLISHED_STATUSES, REPORTED_STATUSES, WAITING_STATUSES } from '../events/delivery-status.js';
import { CODE_RULES } from '../events/events.api.js';
import { OPEN_SESSION_STATUSES, PUBLISHED_SESSION_STATUSES } from '../events/session-status.js';
import { LOGIN_HOOK_OUTCOMES } from '../hooks/login-hook.api.js';
import { RESULT_KINDS } from '../outbox/delivery/result-checks.js';
import { PRIORITIES } from '../outbox/queue/priority.api.js';
import { LINK_STATES } from '../sms/carrier-state.api.js';
import { ENDPOINT_STATUSES } from '../webhooks/endpoints/endpoint.api.js';

/**
 * The source of a metric's values. Add up the values of all processes. Values of the database are the same in every
 * process, so do not add them up.
 */
type Scope = 'process' | 'database';

/** The values that a label may have: a closed list, or the source of its few values. */
export type LabelValues = readonly string[] | keyof typeof OPEN_LABELS;

/** Labels whose values the host's options or a standard define, and how many different values are counted separately. */
export const OPEN_LABELS = {
  channel: { what: '`sms` and the names of the messaging-app channels', most: 16 },
  route: { what: 'the names of transports, routes and links', most: 32 },
  country: { what: 'ISO 3166-1 alpha-2', most: 50 },
  account: { what: 'the accounts of the option `accounts`, else empty', most: 32 },
  hook: { what: 'the ids of log-in hooks', most: 32 },
  worker: { what: 'the names of background workers', most: 64 },
  table: { what: 'our tables, without `messaging_`', most: 40 },
} as const;

/** The label of values that are in no list, or that exceed the number of values that are counted separately. */
export const OTHER = 'other';

/** One of our metrics. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly scope: Scope;
  readonly labels: Readonly<Record<string, LabelValues>>;
  readonly buckets?: readonly number[];
}

/** Upper bounds in seconds: for work of a database or a process, for calls over a network, and for waits. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const CALLS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAITS = [0.1, 0.5, 1, 2, 5, 15, 60, 300, 3600, 21_600];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Groups of the storage's operations. Each operation of a store is in one of them. */
export const OPERATIONS = [
  'accept',
  'claim',
  'settle',
  'expire',
  'next_due',
  'outbox_read',
  'policies',
  'ledger',
  'accounts',
  'events',
  'receipts',
  'opt_outs',
  'sessions',
  'webhooks',
  'hooks',
  'media',
  'retention',
  'audit',
  OTHER,
] as const;

/** The reasons why a send was not accepted. Every other reason is counted as `other`. */
const ACCEPT_REASONS = [
  'insufficient_balance',
  'idempotency_mismatch',
  'account_not_found',
  'otp_too_many_codes',
  'otp_destination_refused',
  'key_recipient',
  'confirmation_needed',
  'key_cap',
  'storage_unavailable',
  'dropped',
  OTHER,
] as const satisfies readonly (CodeWord | 'dropped' | 'other')[];

/** A code of an error without `error.`. */
type CodeWord = ErrorCode extends `error.${infer Word}` ? Word : never;

/** The reasons of refunds. All codes of carriers are counted as `carrier_refused`. */
export const REFUND_REASONS = [
  'carrier_refused',
  'canceled',
  'expired',
  'no_route',
  'no_link',
  'circuit_open',
  'not_connected',
  'not_on_channel',
  'recipient_not_checked',
  'restricted',
  'rate_limited',
  'unsendable',
  'stopping',
  OTHER,
] as const;

/** All metrics by their names without `messaging_`. */
export const METRICS = {
  accept_duration_seconds: histogram('Time from a send to its answer.', QUICK, {
    channel: 'channel',
    outcome: ['accepted', 'replayed', 'refused', 'failed'],
  }),
  accept_refusals_total: counter('Sends that were not accepted.', { channel: 'channel', reason: ACCEPT_REASONS }),
  accept_waiting: gauge('Sends that wait for a commit.', 'process', {}),
  accept_held_total: counter(
    'Sends that had to wait because another transaction had locked their account or their records.',
    {
      cause: ['account', 'records'],
    },
  ),
  commit_sends: histogram('Sends in one commit.', SIZES, {}),
  commit_duration_seconds: histogram('Time of one commit of sends.', QUICK, {}),

  open_deliveries: gauge('Deliveries that are not handed over yet; the count stops at 100000 a channel.', 'database', {
    channel: 'channel',
    status: WAITING_STATUSES,
  }),
  scheduled: gauge(
    'Queued deliveries that wait for a later time, among those that `messaging_open_deliveries` counts.',
    'database',
    { channel: 'channel' },
  ),
  oldest_due_seconds: gauge('Age of the oldest delivery that is due and not claimed; 0 if there is none.', 'database', {
    channel: 'channel',
    priority: PRIORITIES,
  }),
  first_handover_seconds: histogram(
    'Time from the acceptance of a delivery, or from its `send_at`, to its first claim or direct hand-over.',
    WAITS,
    {
      channel: 'channel',
      priority: PRIORITIES,
    },
  ),
  claims_total: counter('Claims of workers.', { channel: 'channel', result: ['full', 'some', 'empty'] }),
  claimed_deliveries_total: counter('Deliveries that workers have claimed or got directly.', { channel: 'channel' }),
  expired_leases_total: counter('Deliveries whose worker did not answer within its lease.', { channel: 'channel' }),
  retries_total: counter('Deliveries that were put back for a later attempt.', { channel: 'channel' }),
  deliveries_total: counter('Changes of the state of deliveries.', { channel: 'channel', status: PUBLISHED_STATUSES }),
  worker_last_round_timestamp_seconds: gauge('When a worker last did its work.', 'process', { worker: 'worker' }),
  worker_round_interval_seconds: gauge('The regular time from one round of a worker to the next.', 'process', {
    worker: 'worker',
  }),

  carrier_submits_total: counter('Attempts to hand an SMS to a carrier.', {
    route: 'route',
    result: RESULT_KINDS,
  }),
  carrier_submit_duration_seconds: histogram(
    'Time of one attempt to hand an SMS to a carrier, including the wait in the transport.',
    CALLS,
    {
      route: 'route',
    },
  ),
  route_usable: gauge('1 if a route accepts SMS, else 0.', 'process', { route: 'route' }),
  route_breaker_open: gauge('1 while the circuit breaker of a route is open.', 'process', { route: 'route' }),
  route_links: gauge('Links of a route by their state.', 'process', { route: 'route', state: LINK_STATES }),
  route_interruptions: gauge(
    'How often the carrier refused the bind or the whole route, instead of an SMS, since the start.',
    'process',
    { route: 'route', about: ['bind', 'route'] },
  ),
  route_window_used: gauge('Requests that a route has not answered yet.', 'process', { route: 'route' }),
  route_window_size: gauge('The most requests that a route may leave unanswered.', 'process', { route: 'route' }),
  receipts_total: counter('Receipts of carriers. An `unread` receipt has an unknown state.', {
    route: 'route',
    status: [...REPORTED_STATUSES, 'unread'],
  }),
  receipt_delay_seconds: histogram(
    'Time from the acceptance of a delivery, or from its `send_at`, to its final receipt.',
    WAITS,
    {
      channel: 'channel',
    },
  ),
  parked_receipts: gauge('Receipts that match no SMS yet; the count stops at 10000.', 'database', {}),
  unreported_total: counter('Deliveries that became unknown without a receipt in time.', { channel: 'channel' }),
  unread_numbers_total: counter('Texts that were dropped because their phone’s number could not be read.', {
    route: 'route',
  }),
  segment_differences_total: counter('SMS for which the carrier counted another number of segments.', {
    route: 'route',
  }),

  charged_units_total: counter('Units charged.', { channel: 'channel', account: 'account' }),
  refunded_units_total: counter('Units refunded.', {
    channel: 'channel',
    reason: REFUND_REASONS,
    account: 'account',
  }),
  posted_units_total: counter('Units posted by operators.', { kind: ['topup', 'adjust_up', 'adjust_down'] }),
  low_accounts: gauge('Accounts below their threshold; the count stops at 10000.', 'database', {}),
  ledger_findings: gauge('Findings of the last ledger check of this process.', 'process', {}),
  ledger_check_timestamp_seconds: gauge('When the last ledger check of this process ended.', 'process', {}),

  codes_sent_total: counter('One-time passcodes sent.', { country: 'country' }),
  codes_verified_total: counter('One-time passcodes verified.', { country: 'country' }),
  code_checks_total: counter('Attempts to verify a code.', {
    result: ['verified', 'wrong', 'locked', 'expired', 'exhausted', 'spent', 'already_verified', 'not_found'],
  }),
  code_refusals_total: counter('Codes that a rule refused.', {
    reason: [...CODE_RULES, OTHER],
  }),

  login_hook_calls_total: counter('Calls of log-in hooks, and tests that somebody sent through them.', {
    hook: 'hook',
    outcome: LOGIN_HOOK_OUTCOMES,
  }),

  sessions: gauge('Sessions of messaging apps that are not over; the count stops at 10000.', 'database', {
    channel: 'channel',
    state: OPEN_SESSION_STATUSES,
  }),
  session_changes_total: counter('Changes of the state of sessions.', {
    channel: 'channel',
    state: PUBLISHED_SESSION_STATUSES,
  }),
  session_restrictions_total: counter('Numbers that a messaging app has restricted.', { channel: 'channel' }),

  webhook_calls_total: counter('Calls of webhooks.', {
    result: ['2xx', '3xx', '4xx', '5xx', 'timeout', 'unreachable', OTHER],
  }),
  webhook_call_duration_seconds: histogram('Time of one call of a webhook.', CALLS, {}),
  webhook_lag_seconds: gauge('Age of the oldest event that was not sent to an enabled webhook.', 'database', {}),
  webhook_endpoints: gauge('Webhooks by their state; the count stops at 10000.', 'database', {
    state: ENDPOINT_STATUSES,
  }),

  campaigns: gauge('Campaigns that a process looks after, by their state; the count stops at 10000.', 'database', {
    state: WORKING_STATUSES,
  }),
  storage_up: gauge('1 if the last round of gauges could read the database, else 0.', 'process', {}),
  storage_operation_duration_seconds: histogram('Time of an operation of the storage.', QUICK, {
    operation: OPERATIONS,
  }),
  storage_errors_total: counter('Operations of the storage that failed.', {
    operation: OPERATIONS,
    code: ['unavailable', OTHER],
  }),
  storage_pool_waiting: gauge('Operations that wait for a connection, or on SQLite for their turn.', 'process', {}),
  storage_dead_rows: gauge('Rows that the database has not cleaned up yet. PostgreSQL only.', 'database', {
    table: 'table',
  }),
  storage_oldest_snapshot_seconds: gauge('Age of the oldest open transaction. Not on SQLite.', 'database', {}),
  gauges_timestamp_seconds: gauge('When the gauges were last read from the database.', 'process', {}),
  gauges_duration_seconds: histogram('Time of one reading of the gauges from the database.', QUICK, {}),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** The names of metrics, without `messaging_`. */
export type MetricName = keyof typeof METRICS;

/** The metrics of one kind. */
export type MetricsOf<K extends MetricDefinition['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[MetricName];

/** A metric in the form that the port `Telemetry` takes. */
export function metricOf(name: MetricName): Metric {
  const { help, labels }: MetricDefinition = METRICS[name];
  return { name: `messaging_${name}`, help, labels: Object.keys(labels) };
}

/** As `metricOf`, for a histogram. */
export function histogramOf(name: MetricsOf<'histogram'>): HistogramMetric {
  return { ...metricOf(name), buckets: METRICS[name].buckets };
}

function counter<const L extends MetricDefinition['labels']>(help: string, labels: L) {
  return { kind: 'counter', help, scope: 'process', labels } as const;
}

function gauge<const S extends Scope, const L extends MetricDefinition['labels']>(help: string, scope: S, labels: L) {
  return { kind: 'gauge', help, scope, labels } as const;
}

function histogram<const L extends MetricDefinition['labels']>(help: string, buckets: readonly number[], labels: L) {
  return { kind: 'histogram', help, scope: 'process', labels, buckets } as const;
}
