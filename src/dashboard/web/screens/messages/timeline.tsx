import type { MsgappMessage, SmsRecipient } from '../../../../client/index.js';
import { DELIVERY_STATES, isComplete } from '../../../../events/delivery-status.js';
import { type Tone, toneOf } from '../../components/shown.js';
import { exactMoment, preciseMoment } from '../../core/format.js';
import { isAhead, zonedMoment } from '../shared/schedule.js';
import { DeliveryStatus, nameOf } from './delivery-status.js';
import { stepName, t } from './message-texts.js';

/** A step in the timeline of a delivery. */
interface Step {
  readonly at: string | undefined;
  readonly what: string;
  readonly status?: string | undefined;
  readonly detail?: string | undefined;
  readonly tone?: Tone | undefined;
}

/** The steps of a delivery, the earliest first. */
export function Timeline({ steps, label }: { readonly steps: readonly Step[]; readonly label: string }) {
  return (
    <ol class="timeline" aria-label={label}>
      {steps.map(({ at, what, status, detail, tone }, index) => (
        <li key={index} class={tone}>
          <span class="what" dir="auto">
            {what}
          </span>
          {status !== undefined && <DeliveryStatus of={status} />}
          {detail !== undefined && (
            <span class="soft" dir="auto">
              {detail}
            </span>
          )}
          {at !== undefined && (
            <time class="soft" dateTime={at} title={exactMoment(at)}>
              {preciseMoment(at)}
            </time>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Returns the steps of one recipient of an SMS. */
export function stepsOfSms(of: SmsRecipient, sentAt: string): readonly Step[] {
  const { status, attempts, attempts_count, updated_at, refunded_units: refunded, error, due_at } = of;
  const opted = error === 'opted_out';
  const left = attempts_count - attempts.length;
  const last = attempts.at(-1);
  const isWaiting = DELIVERY_STATES[status].stage === 'waiting';
  // The newest attempt has the status of its report. If the report came later, it gets a step with its own time.
  const reported = last !== undefined && !isWaiting && Date.parse(updated_at) - Date.parse(last.at) > 1000;
  return [
    { at: sentAt, what: opted ? t('opted') : t('accepted'), tone: opted ? 'bad' : undefined },
    ...(left > 0 ? [{ at: undefined, what: t('attemptsLeftOut', { n: left }) }] : []),
    ...attempts.map((attempt): Step => {
      const own = attempt === last && reported ? 'sent' : attempt.status;
      return {
        at: attempt.at,
        what: t('attempt', { route: attempt.route }),
        status: own,
        detail: own === 'sent' || attempt.error === null ? undefined : stepName.of(attempt.error),
        tone: toneOf(own),
      };
    }),
    ...(reported ? [{ at: updated_at, what: t('report'), status, detail: errorOf(error), tone: toneOf(status) }] : []),
    ...(isWaiting ? [waitingStep(due_at)] : []),
    ...(!isWaiting && last === undefined && !opted
      ? [{ at: updated_at, what: nameOf(status), detail: errorOf(error), tone: toneOf(status) }]
      : []),
    ...(refunded > 0 ? [{ at: updated_at, what: t('refund', { n: refunded }) }] : []),
  ];
}

/** The step of a message that waits: for its moment, or for its turn in the queue. */
function waitingStep(due: string | null): Step {
  return { at: undefined, what: isAhead(due) ? t('due', { at: zonedMoment(due) }) : t('waits') };
}

function errorOf(error: string | null): string | undefined {
  return error === null ? undefined : stepName.of(error);
}

/** Returns the steps of a message of a messaging app. */
export function stepsOfApp(of: MsgappMessage): readonly Step[] {
  const {
    queued_at,
    sent_at,
    delivered_at,
    read_at,
    failed_at,
    updated_at,
    due_at,
    status,
    error,
    refunded_units: refunded,
  } = of;
  const steps: readonly (Step | undefined)[] = [
    { at: queued_at, what: t('accepted') },
    sent_at === null ? undefined : { at: sent_at, what: t('sentAt') },
    delivered_at === null ? undefined : { at: delivered_at, what: t('deliveredAt'), tone: 'good' },
    read_at === null ? undefined : { at: read_at, what: t('readAt'), tone: 'good' },
    failed_at === null ? undefined : { at: failed_at, what: t('failedAt'), detail: errorOf(error), tone: 'bad' },
    isComplete(status) && delivered_at === null && read_at === null && failed_at === null
      ? { at: updated_at, what: nameOf(status), detail: errorOf(error), tone: toneOf(status) }
      : undefined,
    DELIVERY_STATES[status].stage === 'waiting' ? waitingStep(due_at) : undefined,
    refunded > 0 ? { at: updated_at, what: t('refund', { n: refunded }) } : undefined,
  ];
  return steps.filter((step) => step !== undefined);
}
